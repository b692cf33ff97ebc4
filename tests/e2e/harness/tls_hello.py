"""First messages of TLS clients: a real one's, and ones made by hand with any field wrong."""

import ssl
import struct

HANDSHAKE, ALERT = 22, 21

# Alert descriptions (RFC 8446 section 6).
ILLEGAL_PARAMETER, DECODE_ERROR, INTERNAL_ERROR = 47, 50, 80
MISSING_EXTENSION, UNRECOGNIZED_NAME = 109, 112


def real(name):
    """The ClientHello of Python's OpenSSL for `name`; None: without server_name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def vector16(data):
    return struct.pack(">H", len(data)) + data


def extension(kind, data):
    return struct.pack(">H", kind) + vector16(data)


def server_name(*names):
    """A server_name extension that holds these names, bytes of any kind."""
    return extension(0, vector16(b"".join(b"\0" + vector16(name) for name in names)))


def message(*extensions):
    """A ClientHello as a handshake message, without record."""
    body = (b"\x03\x03" + bytes(32) + b"\0" + vector16(b"\x13\x01") + b"\x01\0" + vector16(b"".join(extensions)))
    return b"\x01" + struct.pack(">I", len(body))[1:] + body


def message_of(size, name):
    """One of exactly `size` bytes, its name behind a padding extension."""
    empty = message(extension(21, b""), server_name(name))
    return message(extension(21, bytes(size - len(empty))), server_name(name))


def records(data, size=16384, kind=HANDSHAKE):
    """A message in records of `size` bytes each."""
    return b"".join(bytes([kind, 3, 1]) + vector16(data[at:at + size]) for at in range(0, len(data), size))


def made(name):
    """A small ClientHello in one record."""
    return records(message(server_name(name)))


def fatal_alert(description):
    """The record with which a connection is refused."""
    return bytes([ALERT, 3, 3, 0, 2, 2, description])
