"""One side of a TLS connection by OpenSSL's own functions, for what Python's ssl module has no words for: KeyUpdate,
tickets at any time, a single cipher suite."""

import ctypes

_library = ctypes.CDLL("libssl.so.3")
for _name in ("TLS_client_method", "TLS_server_method", "SSL_CTX_new", "SSL_new"):
    getattr(_library, _name).restype = ctypes.c_void_p

_FILETYPE_PEM = 1
_ZERO_RETURN = 6


class Cut(Exception):
    """The connection has failed, or ended without close_notify."""


class Peer:
    """On a connected, blocking socket: a server where there is an `identity`. For one thread at a time."""

    def __init__(self, socket, identity=None, suites=None):
        self.socket = socket
        method = _library.TLS_server_method() if identity else _library.TLS_client_method()
        self._context = ctypes.c_void_p(_library.SSL_CTX_new(ctypes.c_void_p(method)))
        if identity:
            assert _library.SSL_CTX_use_certificate_chain_file(self._context, str(identity.certificate).encode()) == 1
            assert _library.SSL_CTX_use_PrivateKey_file(self._context, str(identity.key).encode(), _FILETYPE_PEM) == 1
        if suites:
            assert _library.SSL_CTX_set_ciphersuites(self._context, suites.encode()) == 1
        self._ssl = ctypes.c_void_p(_library.SSL_new(self._context))
        _library.SSL_set_fd(self._ssl, socket.fileno())
        self._check((_library.SSL_accept if identity else _library.SSL_connect)(self._ssl))

    def _check(self, result):
        if result > 0:
            return result
        if _library.SSL_get_error(self._ssl, result) == _ZERO_RETURN:
            return 0
        raise Cut

    def send(self, data):
        self._check(_library.SSL_write(self._ssl, data, len(data)))

    def recv(self, count=1 << 16):
        """b"" after close_notify."""
        buffer = ctypes.create_string_buffer(count)
        got = self._check(_library.SSL_read(self._ssl, buffer, count))
        return buffer.raw[:got]

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.recv(min(count - len(data), 1 << 16))
            assert piece, f"the end after {len(data)} of {count} bytes"
            data += piece
        return data

    def to_end(self):
        data = []
        while piece := self.recv():
            data.append(piece)
        return b"".join(data)

    def key_update(self, asks_for_one=False):
        """Leaves at once."""
        assert _library.SSL_key_update(self._ssl, int(asks_for_one)) == 1
        assert _library.SSL_do_handshake(self._ssl) == 1

    def new_ticket(self):
        """Leaves with the next data."""
        assert _library.SSL_new_session_ticket(self._ssl) == 1

    def close_notify(self):
        _library.SSL_shutdown(self._ssl)

    def close(self):
        _library.SSL_free(self._ssl)
        _library.SSL_CTX_free(self._context)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
