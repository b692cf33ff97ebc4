"""wget through the proxy, by its environment variables and by its options."""

import pytest

from harness.client import authority
from harness.proxy import Proxy
from programs.support import clean_environment, run_program, sha256


def wget(proxy, *args, **more):
    """wget without the machine's configuration, told of the proxy as people do it."""
    url = f"http://{authority(*proxy.address)}/"
    return run_program("wget", "--no-config", "-nv", "-T", "20", "-t", "1", *args,
                       env=clean_environment(http_proxy=url, https_proxy=url), **more)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_download(http_proxy, nginx, certificate, tmp_path, tls):
    url = nginx.tls_url if tls else nginx.url
    wget(http_proxy, f"--ca-certificate={certificate.cert}", "-O", tmp_path / "file", f"{url}/big.bin")
    assert sha256(tmp_path / "file") == sha256(nginx.root / "big.bin")
    assert http_proxy.wait_access_lines()


def test_recursive_download_keeps_its_connection(http_proxy, nginx, tmp_path):
    site = nginx.root / "site"
    site.mkdir(exist_ok=True)
    for number in range(20):
        (site / f"{number}.txt").write_text(f"page {number}\n")
    (site / "index.html").write_text("".join(f'<a href="{number}.txt">x</a>\n' for number in range(20)))
    wget(http_proxy, "-r", "-np", "-nH", "-P", tmp_path, f"{nginx.url}/site/index.html")
    got = {path.name: path.read_text() for path in (tmp_path / "site").glob("*.txt")}
    assert got == {f"{number}.txt": f"page {number}\n" for number in range(20)}
    connections = {line.split()[0] for line in nginx.wait_access_lines("GET /site/", 21)}
    assert len(connections) <= http_proxy.workers


def test_password(nginx, tmp_path):
    with Proxy("http", "--user", "alice:secret") as proxy:
        good = ("--proxy-user=alice", "--proxy-password=secret")
        wget(proxy, *good, "-O", tmp_path / "file", f"{nginx.url}/hello.txt")
        assert (tmp_path / "file").read_text() == "hello through the race\n"
        done = wget(proxy, "-O", tmp_path / "none", f"{nginx.url}/hello.txt", expect=None)
        assert done.returncode != 0 and "407" in done.stderr


def test_missing_file_is_told(http_proxy, nginx, tmp_path):
    """The origin's 404 arrives as such: wget's exit code 8."""
    assert "404" in wget(http_proxy, "-O", tmp_path / "none", f"{nginx.url}/missing", expect=8).stderr
