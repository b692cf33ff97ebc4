"""Further records of a client whose handshake is done, sealed by hand: what no TLS library would send."""

import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ALERT, HANDSHAKE, DATA = 21, 22, 23  # RFC 8446 section 5.1
KEY_UPDATE = bytes([24, 0, 0, 1, 0])  # that asks for none in return, RFC 8446 section 4.6.3


def expand(secret, info, count, algorithm):
    """HKDF-Expand (RFC 5869)."""
    out, block, number = b"", b"", 0
    while len(out) < count:
        number += 1
        block = hmac.digest(secret, block + info + bytes([number]), algorithm)
        out += block
    return out[:count]


def p_hash(secret, seed, count, algorithm):
    """Of TLS 1.2 (RFC 5246 section 5)."""
    out, link = b"", seed
    while len(out) < count:
        link = hmac.digest(secret, link, algorithm)
        out += hmac.digest(secret, link + seed, algorithm)
    return out[:count]


def key_log(path, label):
    """The last secret of that label, as bytes, and the client's random."""
    for line in reversed(path.read_text().splitlines()):
        words = line.split()
        if words and words[0] == label:
            return bytes.fromhex(words[2]), bytes.fromhex(words[1])
    raise AssertionError(f"no {label} in {path}")


class Suite:
    """Of AES-GCM alone."""

    def __init__(self, name):
        assert "GCM" in name, name
        self.key_bytes = 32 if "256_GCM" in name or "256-GCM" in name else 16
        self.algorithm = "sha384" if name.endswith("SHA384") else "sha256"


class Tls13Records:
    """Behind a TlsSocket that has sent no data yet; its context has keylog_filename set."""

    def __init__(self, tls_socket, log):
        self.suite = Suite(tls_socket.tls.cipher()[0])
        self._take(key_log(log, "CLIENT_TRAFFIC_SECRET_0")[0])

    def _label(self, label, count):
        name = b"tls13 " + label
        info = count.to_bytes(2, "big") + bytes([len(name)]) + name + b"\0"
        return expand(self.secret, info, count, self.suite.algorithm)

    def _take(self, secret):
        self.secret, self.number = secret, 0
        self.cipher = AESGCM(self._label(b"key", self.suite.key_bytes))
        self.iv = int.from_bytes(self._label(b"iv", 12), "big")

    def record(self, kind, content):
        head = bytes([DATA, 3, 3]) + (len(content) + 17).to_bytes(2, "big")
        nonce = (self.iv ^ self.number).to_bytes(12, "big")
        self.number += 1
        return head + self.cipher.encrypt(nonce, content + bytes([kind]), head)

    def key_update(self):
        made = self.record(HANDSHAKE, KEY_UPDATE)
        self._take(self._label(b"traffic upd", hashlib.new(self.suite.algorithm).digest_size))
        return made


class Tls12Records:
    """The same for TLS 1.2; `server_random` is that of the ServerHello."""

    def __init__(self, tls_socket, log, server_random):
        suite = Suite(tls_socket.tls.cipher()[0])
        secret, client_random = key_log(log, "CLIENT_RANDOM")
        keys = p_hash(secret, b"key expansion" + server_random + client_random, 2 * suite.key_bytes + 8,
                      suite.algorithm)
        self.cipher = AESGCM(keys[:suite.key_bytes])
        self.salt = keys[2 * suite.key_bytes:][:4]
        self.number = 1  # Finished was the first

    def record(self, kind, content):
        explicit = self.number.to_bytes(8, "big")
        aad = explicit + bytes([kind, 3, 3]) + len(content).to_bytes(2, "big")
        self.number += 1
        sealed = explicit + self.cipher.encrypt(self.salt + explicit, content, aad)
        return bytes([kind, 3, 3]) + len(sealed).to_bytes(2, "big") + sealed


def record_kinds(data):
    """The kinds of the whole records in it."""
    kinds = []
    while len(data) >= 5 and len(data) >= 5 + int.from_bytes(data[3:5], "big"):
        kinds.append(data[0])
        data = data[5 + int.from_bytes(data[3:5], "big"):]
    return kinds
