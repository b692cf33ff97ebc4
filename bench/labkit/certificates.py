"""A certificate for the session: P-256, self-signed, for the names and addresses of the lab."""

import subprocess

from . import network
from .errors import LabError


def create(directory):
    """-> certificate and key; both in one file, both.pem, lie beside them."""
    certificate, key = directory / "cert.pem", directory / "key.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", str(key), "-out", str(certificate), "-days", "30", "-subj", "/CN=lab.example.test",
            "-addext", f"subjectAltName=DNS:lab.example.test,IP:{network.PROXY_OUTSIDE},IP:{network.ORIGIN}"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True)
    except OSError as error:
        raise LabError(f"openssl is needed for the certificate: {error}") from None
    if done.returncode != 0:
        raise LabError(f"openssl: {done.stderr.strip()}")
    both = directory / "both.pem"
    both.write_text(key.read_text() + certificate.read_text())
    for path in (certificate, key, both):
        path.chmod(0o644)       # proxies that drop their rights read it as somebody else; it is worth nothing
    return certificate, key
