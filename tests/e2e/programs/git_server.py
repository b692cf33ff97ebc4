"""git's own HTTP server: git http-backend behind a small CGI server, in the clear or over TLS."""

import http.server
import os
import ssl
import subprocess
import threading

from programs.support import clean_environment, require


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802 -- named by the library
        self._run(b"")

    def do_POST(self):  # noqa: N802
        self._run(self._chunked_body() if self.headers.get("Transfer-Encoding") == "chunked"
                  else self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _chunked_body(self):
        body = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(body)

    def _run(self, body):
        """One CGI request (RFC 3875)."""
        self.server.seen.append((self.command, self.path, self.headers))
        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": self.server.root, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command,
            "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": len(body), "REMOTE_USER": "tester", "REMOTE_ADDR": self.client_address[0],
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run([require("git"), "http-backend"], input=body, capture_output=True, check=True,
                              env=clean_environment(**variables))
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        """Says nothing."""


class _Server(http.server.ThreadingHTTPServer):
    tls = None

    def finish_request(self, request, client_address):
        """Handshakes in the connection's own thread, so that a client that waits does not stop others."""
        if self.tls:
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)


class GitServer:
    """Serves the repositories in `root`. `seen`: (method, path, fields) of each request."""

    def __init__(self, root, certificate=None):
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.root, self._server.seen = os.fspath(root), []
        if certificate:
            self._server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._server.tls.load_cert_chain(certificate.cert, certificate.key)
        self.url = f"{'https' if certificate else 'http'}://localhost:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def seen(self):
        return self._server.seen

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
