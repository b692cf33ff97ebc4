"""Certificates by openssl(1), and clients that speak TLS by Python's ssl module."""

import os
import pathlib
import ssl
import subprocess

from harness.client import Client
from harness.timing import limit


def openssl(*args, stdin=None, check=True):
    done = subprocess.run(["openssl", *map(str, args)], input=stdin, capture_output=True, timeout=limit(30),
                          check=False)
    assert not check or done.returncode == 0, done.stderr.decode()
    return done


def tls_paths(version="1.3"):
    """What the access log may say of how the bytes went; the kernel knows TLS 1.3 from us."""
    if version != "1.3":
        return ["tls"]
    return ["ktls"] if os.environ.get("HEADRACE_KTLS") == "on" else ["tls", "ktls"]


class Identity:
    """A certificate with its chain, and its key, in files."""

    def __init__(self, certificate, key):
        self.certificate, self.key = pathlib.Path(certificate), pathlib.Path(key)

    @property
    def arguments(self):
        return "--tls-cert", self.certificate, "--tls-key", self.key


class Authority:
    """Signs certificates; `path` is its own, in PEM."""

    def __init__(self, folder, name="Test Authority"):
        self.folder = folder
        self._made = 0
        self.path, self.key = folder / "ca.pem", folder / "ca.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
                "-out", self.path, "-days", "30", "-subj", f"/CN={name}")

    def issue(self, *names, key="ec", subject=None, days=20, is_authority=False, issuer=None, extra=()):
        """An Identity for DNS names and `IP:...` addresses; an intermediate where `is_authority`."""
        self._made += 1
        stem = self.folder / f"{self._made}"
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec" else ["-newkey", "rsa:2048"]
        key_file, request, certificate = (stem.with_suffix(s) for s in (".key", ".csr", ".pem"))
        openssl("req", *kind, "-nodes", "-keyout", key_file, "-out", request, "-subj",
                subject or f"/CN={names[0] if names else 'nobody'}")
        lines = [f"basicConstraints=CA:{'TRUE' if is_authority else 'FALSE'}", *extra]
        if names:
            lines.append("subjectAltName=" + ",".join(n if ":" in n else f"DNS:{n}" for n in names))
        extensions = stem.with_suffix(".ext")
        extensions.write_text("\n".join(lines) + "\n")
        ca, ca_key = (issuer.certificate, issuer.key) if issuer else (self.path, self.key)
        openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", certificate)
        if issuer:
            certificate.write_text(certificate.read_text() + issuer.certificate.read_text())
        return Identity(certificate, key_file)


def client_context(authority=None, identity=None, alpn=(), version=None):
    context = ssl.create_default_context(cafile=authority and str(authority.path))
    if authority is None:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if identity:
        context.load_cert_chain(identity.certificate, identity.key)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version:
        context.minimum_version = context.maximum_version = version
    return context


class TlsSocket:
    """TLS over memory, with the methods of a socket that a Client uses, and a hand on the cipher bytes.

    `send_cipher` gets every flight and may send it as it likes. recv() gives b"" for a close_notify, and
    raises ssl.SSLEOFError for an end without it.
    """

    def __init__(self, plain, context, name="o.example.test", send_cipher=None, session=None):
        self.plain = plain
        self.send_cipher = send_cipher or plain.sendall
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name, session=session)
        self.hand_shaken = False
        self._more(self.tls.do_handshake)
        self.hand_shaken = True
        self.flush()

    def flush(self):
        if self.outgoing.pending:
            self.send_cipher(self.outgoing.read())

    def _more(self, operation, *args):
        while True:
            try:
                return operation(*args)
            except ssl.SSLWantReadError:
                self.flush()
                data = self.plain.recv(256 * 1024)
                if not data:
                    raise ssl.SSLEOFError("ended without close_notify") from None
                self.incoming.write(data)
            except ssl.SSLError:
                self.flush()  # our alert
                raise

    def sendall(self, data):
        view = memoryview(data)
        for at in range(0, len(view), 256 * 1024):
            self.tls.write(view[at:at + 256 * 1024])
            self.flush()

    def recv(self, count):
        try:
            return self._more(self.tls.read, count)
        except ssl.SSLZeroReturnError:
            return b""

    def close_notify(self):
        """Half-close: reading goes on."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()

    def version(self):
        return self.tls.version()

    def settimeout(self, seconds):
        self.plain.settimeout(seconds)

    def gettimeout(self):
        return self.plain.gettimeout()

    def close(self):
        self.plain.close()


class TlsClient(Client):
    """A Client inside TLS; `ended` is "eof" after a close_notify and "cut" after an end without it."""

    def __init__(self, address, context, name="o.example.test", receive_buffer=None, send_cipher=None, session=None):
        plain = Client(address, receive_buffer=receive_buffer)
        self.plain = plain
        try:
            wrapped = TlsSocket(plain.socket, context, name, send_cipher, session)
        except BaseException:
            plain.close()
            raise
        super().__init__(address, connected=wrapped)

    def fin(self):
        self.socket.close_notify()

    def send_cipher(self, data):
        self.plain.socket.sendall(data)

    def _fill(self):
        try:
            return super()._fill()
        except ssl.SSLEOFError:
            self.ended = "cut"
            return False
