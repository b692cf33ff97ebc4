"""git clone, fetch and push through the proxy, from and to git's own HTTP server."""

import os

import pytest

from harness.client import authority
from harness.proxy import Proxy
from programs.git_server import GitServer
from programs.support import clean_environment, run_program, sha256


def git(*args, cwd, **more):
    environment = clean_environment(
        GIT_CONFIG_NOSYSTEM=1, GIT_CONFIG_GLOBAL="/dev/null", GIT_TERMINAL_PROMPT=0, GIT_AUTHOR_NAME="t",
        GIT_AUTHOR_EMAIL="t@example.test", GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.test")
    return run_program("git", "-c", "init.defaultBranch=main", *args, cwd=cwd, env=environment, **more)


@pytest.fixture(name="root")
def root_fixture(tmp_path):
    """A folder with repo.git: two commits, 3 MiB that do not compress."""
    work, root = tmp_path / "work", tmp_path / "root"
    root.mkdir()
    git("init", "-q", "--bare", "repo.git", cwd=root)
    git("config", "http.receivepack", "true", cwd=root / "repo.git")
    git("init", "-q", str(work), cwd=tmp_path)
    (work / "README").write_text("a race of water\n")
    git("add", ".", cwd=work)
    git("commit", "-q", "-m", "first", cwd=work)
    (work / "big").write_bytes(os.urandom(3 * 1024 * 1024))
    git("add", ".", cwd=work)
    git("commit", "-q", "-m", "second", cwd=work)
    git("push", "-q", str(root / "repo.git"), "main", cwd=work)
    return root


@pytest.mark.parametrize("how", ["connect", "absolute", "socks5h", "socks4a"])
def test_clone_fetch_and_push(root, tmp_path, certificate, how):
    scheme = how if how.startswith("socks") else "http"
    with Proxy("mixed", access_log=True) as proxy, \
         GitServer(root, None if how == "absolute" else certificate) as server:
        via = ("-c", f"http.proxy={scheme}://{authority(*proxy.address)}", "-c", f"http.sslCAInfo={certificate.cert}")
        git(*via, "clone", "-q", f"{server.url}/repo.git", "copy", cwd=tmp_path)
        copy = tmp_path / "copy"
        assert sha256(copy / "big") == sha256(tmp_path / "work" / "big")

        (copy / "more").write_bytes(os.urandom(2 * 1024 * 1024))  # beyond http.postBuffer: a chunked push
        git("add", ".", cwd=copy)
        git("commit", "-q", "-m", "third", cwd=copy)
        git(*via, "push", "-q", "origin", "main", cwd=copy, timeout=120)
        assert any(fields.get("Transfer-Encoding") == "chunked" for _, _, fields in server.seen)

        git(*via, "clone", "-q", f"{server.url}/repo.git", "again", cwd=tmp_path)
        assert sha256(tmp_path / "again" / "more") == sha256(copy / "more")
        git("fsck", "--strict", cwd=tmp_path / "again")
        assert len(proxy.wait_access_lines(3)) >= 3
        if how == "absolute":
            assert all("headrace" in fields["Via"] for _, _, fields in server.seen)


def test_clone_with_a_password(root, tmp_path, certificate):
    """git takes the proxy's user and password from http.proxy."""
    with Proxy("http", "--user", "dev:pass word") as proxy, GitServer(root, certificate) as server:
        host = authority(*proxy.address)
        for user, code in (("dev:pass%20word@", 0), ("dev:wrong@", 128)):
            git("-c", f"http.proxy=http://{user}{host}", "-c", f"http.sslCAInfo={certificate.cert}",
                "clone", "-q", f"{server.url}/repo.git", f"copy{code}", cwd=tmp_path, expect=code)
