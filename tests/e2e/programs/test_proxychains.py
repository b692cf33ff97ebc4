"""proxychains4 puts programs that know nothing of proxies behind one, by its preloaded library."""

import pytest

from harness.proxy import Proxy
from programs.support import run_program, sha256

_CONF = """
strict_chain
{dns}
tcp_read_time_out 10000
tcp_connect_time_out 8000
[ProxyList]
{kind} {host} {port} {user}
"""


def chained(tmp_path, proxy, kind, *command, dns="proxy_dns", user="", **more):
    """Runs `command` behind `proxy`, which it believes to be of that kind."""
    host, port = proxy.address
    config = tmp_path / "proxychains.conf"
    config.write_text(_CONF.format(dns=dns, kind=kind, host=host, port=port, user=user))
    return run_program("proxychains4", "-q", "-f", config, *command, **more)


@pytest.mark.parametrize("kind", ["http", "socks4", "socks5"])
def test_curl_behind_proxychains(tmp_path, nginx, kind):
    with Proxy("mixed", access_log=True) as proxy:
        chained(tmp_path, proxy, kind, "curl", "-q", "-sSf", "-o", tmp_path / "file", f"{nginx.url}/big.bin", dns="")
        assert sha256(tmp_path / "file") == sha256(nginx.root / "big.bin")
        assert proxy.wait_access_lines()


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_names_are_resolved_by_the_proxy(tmp_path, nginx, dns, kind):
    """proxy_dns: the name itself comes over, as a SOCKS domain or a CONNECT authority."""
    with Proxy("mixed", *dns.options(), access_log=True) as proxy:
        done = chained(tmp_path, proxy, kind, "curl", "-q", "-sSf", f"http://o.example.test:{nginx.port}/hello.txt")
        assert done.stdout == "hello through the race\n"
        assert dns.queries_for("o.example.test")


def test_password(tmp_path, nginx):
    with Proxy("socks", "--user", "alice:secret") as proxy:
        ask = ("curl", "-q", "-sSf", f"{nginx.url}/hello.txt")
        assert chained(tmp_path, proxy, "socks5", *ask, dns="", user="alice secret").stdout.startswith("hello")
        assert chained(tmp_path, proxy, "socks5", *ask, dns="", user="alice wrong", expect=None).returncode != 0
