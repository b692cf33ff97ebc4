"""TLS with the programs that people put before and behind a proxy: curl, openssl, nginx, haproxy, stunnel."""

import contextlib
import os
import shutil
import socket
import subprocess

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok, payload, sha256
from harness.proxy import Proxy
from harness.timing import limit, wait_until

BODY = payload(3_000_000)


def program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    assert path, f"{name} is not installed; packages.txt names its package"
    return path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def running(*argv, port):
    """A server program until the end of the block, once it listens."""
    process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        def listens():
            assert process.poll() is None, process.stdout.read().decode()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return True
            return False
        wait_until(listens, 10, f"{argv[0]} at port {port}")
        yield process
    finally:
        process.kill()
        process.communicate()


def curl(*args):
    return subprocess.run(["curl", "-sS", "--max-time", str(limit(20)), *map(str, args)], capture_output=True,
                          timeout=limit(30), check=False)


@pytest.fixture
def both_files(identity, tmp_path):
    """Certificate and key in one file, as haproxy and stunnel want it."""
    path = tmp_path / "both.pem"
    path.write_text(identity.certificate.read_text() + identity.key.read_text())
    return path


@pytest.mark.parametrize("tunnel", [(), ("--proxytunnel",)])
def test_curl_through_an_https_proxy(tunnel, authority, identity):
    with HttpOrigin(lambda request: ok(BODY)) as origin, Proxy("http", *identity.arguments) as proxy:
        done = curl("--proxy", f"https://127.0.0.1:{proxy.port}", "--proxy-cacert", authority.path, *tunnel,
                    f"http://127.0.0.1:{origin.port}/a", f"http://127.0.0.1:{origin.port}/b")
        assert done.returncode == 0, done.stderr
        assert sha256(done.stdout) == sha256(BODY + BODY)


def test_curl_finds_an_untrusted_proxy_out(identity):
    with Proxy("http", *identity.arguments) as proxy:
        assert curl("--proxy", f"https://127.0.0.1:{proxy.port}", "http://127.0.0.1:9/").returncode == 60


def test_openssl_s_client_and_s_server(authority, identity):
    port = free_port()
    with running("openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", identity.certificate, "-key",
                 identity.key, "-rev", "-quiet", port=port):
        with Proxy("relay", "--to", f"127.0.0.1:{port}", "--to-tls", "--to-ca", authority.path,
                   *identity.arguments) as proxy:
            client = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.port}", "-quiet",
                                       "-CAfile", authority.path, "-verify_return_error"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            client.stdin.write(b"hello\n")
            client.stdin.flush()
            assert client.stdout.readline() == b"olleh\n"
            client.kill()
            client.communicate()


def test_key_updates_from_the_client(authority, identity):
    """`k` has s_client change its own keys, `K` asks for new ones of ours as well (RFC 8446 section 4.6.3)."""
    with Origin(echo) as origin, Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *identity.arguments) as proxy:
        client = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.port}", "-tls1_3",
                                   "-CAfile", authority.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        for number in range(6):
            client.stdin.write(b"kK"[number % 2:][:1] + b"\n")
            client.stdin.flush()
            wait_until_line(client, b"KEYUPDATE")
            client.stdin.write(f"ping {number}\n".encode())
            client.stdin.flush()
            wait_until_line(client, f"ping {number}".encode())
        client.kill()
        client.communicate()


def wait_until_line(process, text):
    while line := process.stdout.readline():
        if line.strip() == text:
            return
    raise AssertionError(f"ended before {text!r}")


NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{ }}
http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {key};
    root {folder}; }} }}
"""


def test_nginx_behind(authority, identity, tmp_path):
    port = free_port()
    (tmp_path / "file").write_bytes(BODY)
    tmp_path.chmod(0o755)
    config = tmp_path / "nginx.conf"
    config.write_text(NGINX.format(folder=tmp_path, port=port, certificate=identity.certificate, key=identity.key))
    with running(program("nginx"), "-c", config, "-e", "stderr", port=port):
        with Proxy("relay", "--to", f"127.0.0.1:{port}", "--to-tls", "--to-ca", authority.path) as proxy:
            for _ in range(3):
                done = curl(f"http://127.0.0.1:{proxy.port}/file", f"http://127.0.0.1:{proxy.port}/file")
                assert sha256(done.stdout) == sha256(BODY + BODY), done.stderr


HAPROXY = """defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen in
  bind 127.0.0.1:{port} {bind}
  server s 127.0.0.1:{to} {server}
"""


@pytest.mark.parametrize("side", ["behind", "before"])
def test_haproxy(side, authority, identity, both_files, tmp_path):
    port = free_port()
    config = tmp_path / "haproxy.cfg"
    with Origin(echo) as origin, contextlib.ExitStack() as stack:
        if side == "behind":
            config.write_text(HAPROXY.format(port=port, bind=f"ssl crt {both_files}", to=origin.port, server=""))
            stack.enter_context(running(program("haproxy"), "-db", "-f", config, port=port))
            proxy = stack.enter_context(Proxy("relay", "--to", f"127.0.0.1:{port}", "--to-tls", "--to-ca",
                                              authority.path))
            address = proxy.address
        else:
            proxy = stack.enter_context(Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *identity.arguments))
            config.write_text(HAPROXY.format(port=port, bind="", to=proxy.port, server=f"ssl ca-file {authority.path}"
                                             " verifyhost o.example.test sni str(o.example.test)"))
            stack.enter_context(running(program("haproxy"), "-db", "-f", config, port=port))
            address = ("127.0.0.1", port)
        with_echo(address)


STUNNEL = """foreground = yes
pid =
syslog = no
[t]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{to}
{more}
"""


@pytest.mark.parametrize("side", ["behind", "before"])
def test_stunnel(side, authority, identity, both_files, tmp_path):
    port = free_port()
    config = tmp_path / "stunnel.conf"
    with Origin(echo) as origin, contextlib.ExitStack() as stack:
        if side == "behind":
            config.write_text(STUNNEL.format(port=port, to=origin.port, more=f"cert = {both_files}"))
            stack.enter_context(running(program("stunnel"), config, port=port))
            proxy = stack.enter_context(Proxy("relay", "--to", f"127.0.0.1:{port}", "--to-tls", "--to-ca",
                                              authority.path))
            address = proxy.address
        else:
            proxy = stack.enter_context(Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *identity.arguments))
            config.write_text(STUNNEL.format(port=port, to=proxy.port,
                                             more=f"client = yes\nCAfile = {authority.path}\nverifyChain = yes"))
            stack.enter_context(running(program("stunnel"), config, port=port))
            address = ("127.0.0.1", port)
        with_echo(address)


def with_echo(address):
    data = payload(2_000_000)
    with Client(address) as client:
        got = b""
        for at in range(0, len(data), 50_000):
            client.send(data[at:at + 50_000])
            got += client.exactly(len(data[at:at + 50_000]))
        assert sha256(got) == sha256(data)
