"""curl through every front end, in the way its manual says."""

import pytest

from harness.client import authority
from harness.proxy import Proxy
from programs.support import run_program, sha256

HELLO = "hello through the race\n"


def curl(*args, **more):
    """curl without a configuration file of the machine's; its stdout and stderr as text."""
    return run_program("curl", "-q", "-sS", "--fail-with-body", "--noproxy", "", "--max-time", "50", *args, **more)


def url_of(proxy, scheme="http"):
    return f"{scheme}://{authority(*proxy.address)}"


def test_http(http_proxy, nginx):
    done = curl("-v", "-x", url_of(http_proxy), f"{nginx.url}/hello.txt")
    assert done.stdout == HELLO
    assert "< Via: 1.1 headrace" in done.stderr or "< via: 1.1 headrace" in done.stderr
    assert 'via="1.1 headrace' in nginx.wait_access_lines("GET /hello.txt")[-1]


def test_connect(http_proxy, nginx, certificate):
    """TLS goes through untouched: curl checks the origin's certificate."""
    done = curl("-v", "-x", url_of(http_proxy), "--cacert", certificate.cert, f"{nginx.tls_url}/hello.txt")
    assert done.stdout == HELLO
    assert "200 Connection established" in done.stderr
    line = http_proxy.wait_access_lines()[0]
    assert f"localhost:{nginx.tls_port}" in line.values(), line


def test_connect_in_the_clear(http_proxy, nginx):
    """--proxytunnel: CONNECT for what is no TLS as well."""
    assert curl("-x", url_of(http_proxy), "--proxytunnel", f"{nginx.url}/hello.txt").stdout == HELLO


@pytest.mark.parametrize("option", ["--socks4", "--socks4a", "--socks5", "--socks5-hostname"])
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_socks(socks_proxy, nginx, certificate, option, tls):
    host = f"https://localhost:{nginx.tls_port}" if tls else f"http://localhost:{nginx.port}"
    done = curl("--ipv4", option, authority(*socks_proxy.address), "--cacert", certificate.cert, f"{host}/hello.txt")
    assert done.stdout == HELLO


@pytest.mark.parametrize("scheme", ["http", "socks4", "socks4a", "socks5", "socks5h"])
def test_mixed_port_takes_them_all(nginx, scheme):
    with Proxy("mixed") as proxy:
        assert curl("--ipv4", "-x", url_of(proxy, scheme), f"http://localhost:{nginx.port}/hello.txt").stdout == HELLO


def test_relay(nginx):
    with Proxy("relay", "--to", f"localhost:{nginx.port}") as proxy:
        assert curl(f"{url_of(proxy)}/hello.txt").stdout == HELLO


@pytest.mark.parametrize("tls", [False, True], ids=["http", "connect"])
def test_proxy_user(nginx, certificate, tls):
    url = nginx.tls_url if tls else nginx.url
    with Proxy("http", "--user", "alice:se:cret") as proxy:
        ask = ("-x", url_of(proxy), "--cacert", certificate.cert, f"{url}/hello.txt")
        assert curl("--proxy-user", "alice:se:cret", *ask).stdout == HELLO
        for wrong in (["--proxy-user", "alice:wrong"], ["--proxy-user", "bob:se:cret"], []):
            done = curl(*wrong, "-w", "%{http_code} %{http_connect}", *ask, expect=None)
            assert done.returncode == (56 if tls else 22), done  # received an error; HTTP status of 400 or more
            assert "407" in done.stdout, done
        # curl first asks without credentials, to learn which scheme is wanted, then again.
        assert curl("--proxy-anyauth", "--proxy-user", "alice:se:cret", *ask).stdout == HELLO
    assert all('proxy_fields="--"' in line for line in nginx.access_lines()), "credentials reached the origin"


def test_socks_user(nginx):
    with Proxy("socks", "--user", "alice:secret") as proxy:
        host = authority(*proxy.address)
        good, wrong, none = (f"socks5h://{user}{host}" for user in ("alice:secret@", "alice:wrong@", ""))
        assert curl("-x", good, f"{nginx.url}/hello.txt").stdout == HELLO
        for proxy_url in (wrong, none):
            assert curl("-x", proxy_url, f"{nginx.url}/hello.txt", expect=97).stdout == ""  # 97: SOCKS handshake


@pytest.mark.parametrize("splice", ["never", "always"])
@pytest.mark.parametrize("how", ["http", "connect", "socks5h"])
def test_20_mib_down_and_up(nginx, certificate, tmp_path, how, splice):
    """A download and a PUT, with hashes."""
    with Proxy("mixed", "--splice", splice) as proxy:
        url = nginx.tls_url if how == "connect" else nginx.url
        via = ("-x", url_of(proxy, "socks5h" if how == "socks5h" else "http"), "--cacert", certificate.cert)
        curl(*via, "-o", tmp_path / "down", f"{url}/big.bin")
        assert sha256(tmp_path / "down") == sha256(nginx.root / "big.bin")
        curl(*via, "-T", nginx.root / "big.bin", f"{url}/upload/{how}")
        assert sha256(nginx.root / "upload" / how) == sha256(nginx.root / "big.bin")
        curl(*via, "-T", nginx.root / "big.bin", "-H", "Transfer-Encoding: chunked", f"{url}/upload/{how}.chunked")
        assert sha256(nginx.root / "upload" / f"{how}.chunked") == sha256(nginx.root / "big.bin")


def test_many_urls_on_one_connection(http_proxy, nginx):
    """100 requests, over one connection to the proxy and one to the origin."""
    done = curl("-v", "-x", url_of(http_proxy), f"{nginx.url}/hello.txt?[1-100]")
    assert done.stdout == HELLO * 100
    assert done.stderr.count("* Re-using existing connection") == 99
    connections = {line.split()[0] for line in nginx.wait_access_lines("GET /hello.txt?", 100)}
    assert len(connections) == 1


def test_parallel(http_proxy, nginx):
    done = curl("-Z", "--parallel-max", "20", "-x", url_of(http_proxy), f"{nginx.url}/hello.txt?[1-200]")
    assert done.stdout == HELLO * 200


def test_resumed_download(http_proxy, nginx, tmp_path):
    """Range and 206 pass."""
    whole = (nginx.root / "big.bin").read_bytes()
    (tmp_path / "part").write_bytes(whole[:1_000_000])
    curl("-x", url_of(http_proxy), "-C", "-", "-o", tmp_path / "part", f"{nginx.url}/big.bin")
    assert sha256(tmp_path / "part") == sha256(whole)


@pytest.mark.parametrize("scheme, code", [("http", 22), ("socks5h", 97)])
def test_failure_is_told(scheme, code):
    """curl's user learns that the name does not exist."""
    with Proxy("mixed", "--set", "dns_timeout=1s") as proxy:
        done = curl("-x", url_of(proxy, scheme), "http://missing.invalid:8080/", expect=code)
        if scheme == "http":
            assert "missing.invalid" in done.stdout or "name" in done.stdout
