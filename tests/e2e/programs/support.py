"""What the tests with real programs share: running one, certificates, and nginx as the origin."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess

from harness.timing import limit, wait_until

# Settings of the machine that would lead a client round the proxy under test or to other certificates.
_FOREIGN_VARIABLES = {"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "ssl_cert_file",
                      "ssl_cert_dir", "curl_ca_bundle", "git_ssl_cainfo", "git_proxy_ssl_cainfo"}


def clean_environment(**extra):
    """The environment without settings for proxies and certificates, with a home of nobody's, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if k.lower() not in _FOREIGN_VARIABLES}
    return {**kept, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **{k: str(v) for k, v in extra.items()}}


def require(program):
    """Path of a program; a missing one fails the test, since packages.txt promises it."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    assert path, f"{program} is not installed: see tests/e2e/programs/packages.txt"
    return path


def run_program(*command, expect=0, timeout=60, text=True, env=None, **more):
    """Runs a program to its end and returns the CompletedProcess; `expect`: exit code, or None for any."""
    command = [require(str(command[0])), *map(str, command[1:])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=text, check=False,
                          timeout=limit(timeout), env=env or clean_environment(), **more)
    if expect is not None:
        assert done.returncode == expect, (f"{' '.join(command)}\nexit code {done.returncode}, not {expect}"
                                           f"\nstdout: {done.stdout[-2000:]!r}\nstderr: {done.stderr[-4000:]!r}")
    return done


def free_port():
    """A port nobody listens on at this moment, for programs that cannot be told to take a free one."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Certificate:
    """A self-signed certificate for localhost and the loopback addresses; `cert` also serves as the CA."""

    def __init__(self, folder):
        self.cert, self.key = folder / "cert.pem", folder / "key.pem"
        run_program("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1", "-keyout", self.key, "-out", self.cert)


_NGINX_CONF = """
user root;
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  log_format seen '$connection $connection_requests "$request" $status via="$http_via" '
                  'proxy_fields="$http_proxy_authorization$http_proxy_connection" type="$http_content_type" '
                  'length=$request_length';
  access_log {folder}/access.log seen;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  scgi_temp_path {folder}/scgi;
  uwsgi_temp_path {folder}/uwsgi;
  client_max_body_size 64m;
  keepalive_requests 10000;
  types {{ text/html html; image/svg+xml svg; text/plain txt; application/javascript js; }}
  default_type application/octet-stream;
  dav_methods PUT DELETE;
  server {{
    listen 127.0.0.1:{port};
    listen 127.0.0.1:{tls_port} ssl;
    server_name localhost;
    ssl_certificate {cert};
    ssl_certificate_key {key};
    root {root};
{locations}
  }}
}}
"""


class Nginx:
    """Debian's nginx serving `root` as a stranger's origin would, in the clear and over TLS.

    `locations` is more text for its server block. What it saw is in access_lines().
    """

    def __init__(self, folder, certificate, locations=""):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root"
        self.root.mkdir()
        self._certificate, self._locations = certificate, locations
        self._process = None
        self.port = self.tls_port = 0

    def __enter__(self):
        for attempt in range(5):  # the free ports may be taken by someone else before nginx has them
            self.port, self.tls_port = free_port(), free_port()
            config = self.folder / "nginx.conf"
            config.write_text(_NGINX_CONF.format(
                folder=self.folder, root=self.root, port=self.port, tls_port=self.tls_port,
                cert=self._certificate.cert, key=self._certificate.key, locations=self._locations))
            self._process = subprocess.Popen(
                [require("nginx"), "-p", str(self.folder), "-c", str(config), "-e", str(self.folder / "error.log")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: self._process.poll() is not None or self._listens(), 10, "nginx starts")
            if self._process.poll() is None:
                return self
            errors = (self.folder / "error.log").read_text()
            assert "Address already in use" in errors and attempt < 4, errors
        raise AssertionError("unreachable")

    def _listens(self):
        with contextlib.suppress(ConnectionRefusedError):
            for port in (self.port, self.tls_port):
                socket.create_connection(("127.0.0.1", port), timeout=limit(2)).close()
            return True
        return False

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(limit(5))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def tls_url(self):
        return f"https://localhost:{self.tls_port}"

    def access_lines(self):
        """One line per request that nginx has finished."""
        return (self.folder / "access.log").read_text().splitlines()

    def wait_access_lines(self, text, count=1):
        """Waits until `count` lines contain `text` and returns them; nginx writes a line after the answer."""
        return wait_until(lambda: (found := [line for line in self.access_lines() if text in line])
                          and len(found) >= count and found, 5,
                          lambda: f"{count} x {text!r} in nginx's log: {self.access_lines()}")


def sha256(data):
    """Hex digest of bytes, or of the file at a path."""
    if isinstance(data, (str, pathlib.Path)):
        data = pathlib.Path(data).read_bytes()
    return hashlib.sha256(data).hexdigest()
