"""apt-get through the proxy: update and download from a flat repository, with pipelined requests.

Every folder that apt writes to is a temporary one; the system's own lists and packages stay untouched.
"""

import gzip
import hashlib

import pytest

from harness.client import authority
from harness.proxy import Proxy
from programs.support import clean_environment, run_program, sha256

PACKAGES = 15


@pytest.fixture(name="repository", scope="module")
def repository_fixture(nginx, tmp_path_factory):
    """A flat repository below nginx's root with small packages made here; returns {name: sha256}."""
    folder = nginx.root / "repository"
    folder.mkdir()
    built, index = {}, []
    for number in range(PACKAGES):
        name = f"headrace-probe-{number}"
        tree = tmp_path_factory.mktemp(name)
        (tree / "DEBIAN").mkdir()
        control = (f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: T <t@example.test>\n"
                   "Description: probe\n")
        (tree / "DEBIAN" / "control").write_text(control)
        (tree / "content").write_bytes(hashlib.sha512(name.encode()).digest() * 2000)
        package = folder / f"{name}_1.0_all.deb"
        run_program("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, package)
        built[name] = sha256(package)
        index.append(f"{control}Filename: ./{package.name}\nSize: {package.stat().st_size}\nSHA256: {built[name]}\n")
    packages = "\n".join(index).encode()
    (folder / "Packages").write_bytes(packages)
    (folder / "Packages.gz").write_bytes(gzip.compress(packages))
    return built


@pytest.fixture(name="apt")
def apt_fixture(nginx, repository, tmp_path):
    """apt_get(proxy_url, *args) with everything it touches below tmp_path."""
    sources = tmp_path / "sources.list"
    sources.write_text(f"deb [trusted=yes] {nginx.url}/repository/ ./\n")
    for folder in ("state/lists/partial", "cache/archives/partial", "download"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "status").touch()
    options = {
        "Dir::State": tmp_path / "state", "Dir::State::status": tmp_path / "status", "Dir::Cache": tmp_path / "cache",
        "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "-", "Dir::Etc::parts": "-", "Dir::Etc::main": "-",
        "Dir::Log": tmp_path, "APT::Sandbox::User": "root", "Acquire::Languages": "none", "Acquire::Retries": 0,
        "Acquire::http::Pipeline-Depth": 10,
    }

    def apt_get(proxy_url, *args, **more):
        given = {**options, "Acquire::http::Proxy": proxy_url}
        settings = (part for key, value in given.items() for part in ("-o", f"{key}={value}"))
        return run_program("apt-get", "-q", *settings, *args, cwd=tmp_path / "download",
                           env=clean_environment(APT_CONFIG="/dev/null"), **more)
    return apt_get


@pytest.mark.parametrize("kind, scheme", [("http", "http"), ("socks", "socks5h")])
def test_update_and_download(apt, repository, tmp_path, nginx, kind, scheme):
    with Proxy(kind, access_log=True) as proxy:
        url = f"{scheme}://{authority(*proxy.address)}"
        apt(url, "update")
        apt(url, "download", *repository)
        got = {path.name.split("_")[0]: sha256(path) for path in (tmp_path / "download").glob("*.deb")}
        assert got == repository
        assert proxy.wait_access_lines()
    if kind == "http":
        assert all('via="1.1 headrace' in line for line in nginx.wait_access_lines("headrace-probe-")[-PACKAGES:])


def test_update_with_a_password(apt):
    """apt takes the proxy's user and password from its URL, and fails visibly with a wrong one."""
    with Proxy("http", "--user", "apt:secret") as proxy:
        host = authority(*proxy.address)
        apt(f"http://apt:secret@{host}", "update", "-o", "APT::Update::Error-Mode=any")
        done = apt(f"http://apt:wrong@{host}", "update", "-o", "APT::Update::Error-Mode=any", expect=100)
        assert "407" in done.stderr + done.stdout
