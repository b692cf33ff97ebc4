"""The programs that people put in front of a proxy and behind it: haproxy, nginx, openssl, curl."""

import contextlib
import os
import shutil
import socket
import subprocess

from harness.timing import limit, wait_until


def require(program):
    """Path of a program; a missing one fails the test, since it is one of the packages for tests."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    assert path, f"{program} is not installed: see tools/packages-test.txt and tests/e2e/programs/packages.txt"
    return path


def run(*command, expect=0, **more):
    """Runs a program to its end and returns what it wrote, both outputs; `expect`: exit code, or None for any."""
    done = subprocess.run([require(command[0]), *map(str, command[1:])], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=limit(20), check=False,
                          **{"stdin": subprocess.DEVNULL, **more})
    assert expect is None or done.returncode == expect, f"{command} ended with {done.returncode}: {done.stdout}"
    return done.stdout


def free_port():
    """A port nobody listens on at this moment, for programs that cannot be told to take a free one."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def make_certificate(folder, *names):
    """Self-signed, for these names; (certificate, key) as paths."""
    cert, key = folder / f"{names[0]}.pem", folder / f"{names[0]}.key"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", f"/CN={names[0]}", "-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names),
        "-keyout", key, "-out", cert)
    return cert, key


class Server:
    """A program that serves until the test is over. `command` gets its port; it listens on it on loopback."""

    def __init__(self, command):
        self._command = command

    def __enter__(self):
        for _ in range(5):  # the free port may be taken by someone else before the program has it
            self.port = free_port()
            command = self._command(self.port)
            self._process = subprocess.Popen([require(command[0]), *map(str, command[1:])], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            wait_until(lambda: self._process.poll() is not None or self._listens(), 10, f"{command[0]} starts")
            if self._process.poll() is None:
                return self
            said = self._process.stdout.read().decode("utf-8", "replace")
        raise AssertionError(f"{command} ended: {said}")

    def _listens(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = {int(line.split()[1].rpartition(":")[2], 16) for line in list(file)[1:]
                         if line.split()[3] == "0A"}
        return self.port in listening

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(limit(5))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


_HAPROXY = """
global
  maxconn 100
defaults
  timeout connect 5s
  timeout client 10s
  timeout server 10s
"""


@contextlib.contextmanager
def haproxy(folder, sections):
    """Debian's haproxy; `sections` is its configuration with {port} where it listens."""
    config = folder / "haproxy.cfg"

    def command(port):
        config.write_text(_HAPROXY + sections.replace("{port}", str(port)))
        return "haproxy", "-db", "-f", config

    with Server(command) as server:
        yield server


_NGINX = """
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
user root;
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 100; }}
"""


@contextlib.contextmanager
def nginx(folder, blocks):
    """Debian's nginx; `blocks` are its http and stream blocks with {port} where it listens."""
    config = folder / "nginx.conf"

    def command(port):
        paths = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi",
                                                                               "scgi", "uwsgi"))
        text = blocks.replace("{port}", str(port)).replace("http {", "http {\n  access_log off;\n" + paths)
        config.write_text(_NGINX.format(folder=folder) + text)
        return "nginx", "-p", folder, "-c", config, "-e", folder / "error.log"

    with Server(command) as server:
        yield server
