"""TLS to the destination of a relay: whom it trusts, what it goes on with, and how it ends."""

import re
import signal
import ssl

import pytest

from harness.client import Client
from harness.origin import Origin, echo, payload, sha256
from harness.proxy import Proxy, run
from harness.timing import wait_until
from tls_support import Authority, tls_paths

MIB = 1024 * 1024


class TlsOrigin(Origin):
    """An Origin behind Python's ssl. `sessions` has for each connection whether it was resumed."""

    def __init__(self, script, identity, client_ca=None, version=None, alpn=(), **more):
        self.sessions, self.names, self.subjects, self.protocols = [], [], [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(identity.certificate, identity.key)
        self.context.sni_callback = lambda sock, name, context: self.names.append(name)
        if version:
            self.context.minimum_version = self.context.maximum_version = version
        if alpn:
            self.context.set_alpn_protocols(list(alpn))
        if client_ca:
            self.context.load_verify_locations(client_ca.path)
            self.context.verify_mode = ssl.CERT_REQUIRED
        super().__init__(lambda conn: self._speak_tls(conn, script), **more)

    def _speak_tls(self, conn, script):
        try:
            conn.socket = self.context.wrap_socket(conn.socket, server_side=True, suppress_ragged_eofs=False)
        except (ssl.SSLError, OSError):
            return
        self.sessions.append(conn.socket.session_reused)
        self.protocols.append(conn.socket.selected_alpn_protocol())
        self.subjects.append(conn.socket.getpeercert())
        script(conn)


def answer_once(conn):
    data = conn.socket.recv(1000)
    conn.socket.sendall(b"you said " + data)
    try:
        conn.socket.unwrap()
    except (ssl.SSLError, OSError):
        pass


def relay(origin, *args, host="127.0.0.1", **more):
    return Proxy("relay", "--to", f"{host}:{origin.port}", "--to-tls", *args, **more)


def exchange(proxy):
    with Client(proxy.address) as client:
        try:
            client.send(b"hello")
        except OSError:
            pass  # reset already: to_end() tells
        return client.to_end(), client.ended or "reset"


GOOD = (b"you said hello", "eof")


@pytest.fixture(scope="module")
def identity(authority):
    return authority.issue("o.example.test", "IP:127.0.0.1")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_verified_destination(version, authority, identity):
    with TlsOrigin(answer_once, identity, version=version) as origin:
        with relay(origin, "--to-ca", authority.path, access_log=True) as proxy:
            assert exchange(proxy) == GOOD
            line = proxy.wait_access_lines()[0]
            assert line["path"] in tls_paths("1.3" if version is ssl.TLSVersion.TLSv1_3 else "1.2") and line["result"] == "ok"
        assert origin.names == [None], "an address is no name to ask for (RFC 6066 section 3)"


def test_to_name_is_asked_for_and_verified(authority):
    only_name = authority.issue("o.example.test")
    with TlsOrigin(answer_once, only_name) as origin:
        with relay(origin, "--to-ca", authority.path, "--to-name", "o.example.test") as proxy:
            assert exchange(proxy) == GOOD
        assert origin.names == ["o.example.test"]
        with relay(origin, "--to-ca", authority.path, "--to-name", "other.example.test") as proxy:
            assert exchange(proxy) == (b"", "reset")
            proxy.wait_log("reason=certificate_refused.*(?i:mismatch)")


def test_the_destinations_own_name_is_verified(authority, dns):
    only_name = authority.issue("o.example.test")
    with TlsOrigin(answer_once, only_name) as origin:
        for host, want in (("o.example.test", GOOD), ("other.example.test", (b"", "reset"))):
            with relay(origin, "--to-ca", authority.path, "--set", f"dns_servers={dns.host}:{dns.port}",
                       host=host) as proxy:
                assert exchange(proxy) == want, host


BAD = {
    "NUL in the name": dict(extra=["subjectAltName=DER:30:1B:82:19:6f:2e:65:78:61:6d:70:6c:65:2e:74:65:73:74:00:2e:65:"
                                   "76:69:6c:2e:74:65:73:74"]),
    "address only as a DNS name": dict(names=["DNS:127.0.0.1"], to="127.0.0.1"),
    "wildcard of a top-level domain": dict(names=["*.test"]),
    "wildcard of everything": dict(names=["*"]),
    "wildcard inside a label": dict(names=["f*.example.test"], to="foo.example.test"),
    "expired": dict(names=["o.example.test"], days=-1),
    "wrong host": dict(names=["other.example.test"]),
    "common name only": dict(names=[], subject="/CN=o.example.test"),
}


@pytest.mark.parametrize("fault", BAD)
def test_B179_certificates_that_are_refused(fault, authority):
    """Names compared as C strings; IP addresses matched against DNS names."""
    how = dict(BAD[fault])
    name = how.pop("to", "o.example.test")
    identity = authority.issue(*how.pop("names", []), **how)
    with TlsOrigin(answer_once, identity) as origin:
        with relay(origin, "--to-ca", authority.path, "--to-name", name) as proxy:
            assert exchange(proxy) == (b"", "reset")
            proxy.wait_log("event=refused reason=certificate_refused side=upstream .*details=")
        assert not any(conn.received for conn in origin.connections), "nothing in plain text"


def test_B179_an_unknown_authority_is_refused(authority, identity, tmp_path):
    other = Authority(tmp_path, "Other")
    with TlsOrigin(answer_once, identity) as origin:
        for trust in (("--to-ca", other.path), ()):
            with relay(origin, *trust) as proxy:
                assert exchange(proxy) == (b"", "reset")
                proxy.wait_log("reason=certificate_refused")


def test_insecure_takes_any_and_says_so(tmp_path):
    identity = Authority(tmp_path, "Other").issue("nobody.example.test", days=-1)
    with TlsOrigin(answer_once, identity) as origin, relay(origin, "--to-insecure") as proxy:
        proxy.wait_log("level=warn event=insecure")
        assert exchange(proxy) == GOOD


def test_the_client_certificate_is_shown(authority, identity, tmp_path):
    devices = Authority(tmp_path, "Devices")
    device = devices.issue(subject="/CN=device 7")
    with TlsOrigin(answer_once, identity, client_ca=devices) as origin:
        with relay(origin, "--to-ca", authority.path, "--set", f"to_tls.certificate={device.certificate}",
                   "--set", f"to_tls.key={device.key}") as proxy:
            assert exchange(proxy) == GOOD
        assert origin.subjects[0]["subject"] == ((("commonName", "device 7"),),)


def test_alpn_is_offered(authority, identity):
    with TlsOrigin(answer_once, identity, alpn=["mqtt"]) as origin:
        with relay(origin, "--to-ca", authority.path, "--set", "to_tls.alpn=other, mqtt") as proxy:
            assert exchange(proxy) == GOOD
        assert origin.protocols == ["mqtt"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_are_used_again(version, authority, identity):
    with TlsOrigin(answer_once, identity, version=version) as origin:
        with relay(origin, "--to-ca", authority.path, "--workers", "1") as proxy:
            for _ in range(6):
                assert exchange(proxy) == GOOD
        assert origin.sessions == [False] + [True] * 5


def test_B177_a_session_never_stands_for_another_name(authority):
    """A kept session of one name was used for another."""
    x = authority.issue("x.example.test")
    with TlsOrigin(answer_once, x) as origin:
        with relay(origin, "--to-ca", authority.path, "--to-name", "x.example.test", "--workers", "1") as proxy:
            assert [exchange(proxy) for _ in range(3)] == [GOOD] * 3
        assert origin.sessions == [False, True, True]
        with relay(origin, "--to-ca", authority.path, "--to-name", "y.example.test") as proxy:
            assert exchange(proxy) == (b"", "reset")


def test_a_chain_known_to_be_good_says_nothing_of_another_one(authority, identity, tmp_path):
    """Each handshake is a full one; the first chain stays known while the others are refused."""
    others = [Authority(tmp_path, "Other").issue("o.example.test", "IP:127.0.0.1"),
              authority.issue("other.example.test"), authority.issue("IP:127.0.0.1", days=-1)]
    with TlsOrigin(answer_once, identity, version=ssl.TLSVersion.TLSv1_3) as origin:
        origin.context.num_tickets = 0
        with relay(origin, "--to-ca", authority.path, "--workers", "1") as proxy:
            for other in others:
                assert [exchange(proxy) for _ in range(2)] == [GOOD] * 2
                origin.context.load_cert_chain(other.certificate, other.key)
                assert exchange(proxy) == (b"", "reset")
                origin.context.load_cert_chain(identity.certificate, identity.key)
            assert exchange(proxy) == GOOD
            wait_until(lambda: proxy.log_text.count("reason=certificate_refused") == 3, 3, lambda: proxy.log_text)
        assert origin.sessions and not any(origin.sessions)


def reload(proxy, word):
    before = len(re.findall(word, proxy.log_text))
    proxy.signal(signal.SIGHUP)
    wait_until(lambda: len(re.findall(word, proxy.log_text)) > before, 3, lambda: proxy.log_text)


def test_B163_whom_it_trusts_and_who_it_is_reload(authority, tmp_path):
    """New certificates came only with a restart; half-written files lost all of them."""
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "Other")
    trusted = tmp_path / "trusted.pem"
    trusted.write_text(other.path.read_text())
    shown, second = authority.issue(subject="/CN=one"), authority.issue(subject="/CN=two")
    with TlsOrigin(answer_once, authority.issue("IP:127.0.0.1"), client_ca=authority) as origin, \
            relay(origin, "--to-ca", trusted, "--set", f"to_tls.certificate={shown.certificate}",
                  "--set", f"to_tls.key={shown.key}") as proxy:
        assert exchange(proxy) == (b"", "reset")
        trusted.write_text(authority.path.read_text())
        reload(proxy, "event=reloaded")
        held = Client(proxy.address)
        wait_until(lambda: len(origin.subjects) == 1, 3, "the held connection's handshake")
        assert exchange(proxy) == GOOD

        shown.certificate.write_text(second.certificate.read_text())
        shown.key.write_text(second.key.read_text())
        reload(proxy, "event=reloaded")
        assert exchange(proxy) == GOOD
        trusted.write_text("nothing")
        reload(proxy, f"event=reload_failed.*{re.escape(str(trusted))}")
        assert exchange(proxy) == GOOD
        names = [dict(entry[0] for entry in subject["subject"])["commonName"] for subject in origin.subjects]
        assert names == ["one", "one", "two", "two"]
        with held:
            held.send(b"hello")
            assert (held.to_end(), held.ended) == GOOD


def test_bulk_each_way(authority, identity):
    data = payload(MIB) * 200

    def script(conn):
        received, want = 0, len(data)
        import hashlib
        digest = hashlib.sha256()
        while received < want:
            piece = conn.socket.recv(1 << 18)
            digest.update(piece)
            received += len(piece)
        conn.socket.sendall(digest.digest())
        conn.socket.sendall(data)
        try:
            conn.socket.unwrap()
        except (ssl.SSLError, OSError):
            pass

    with TlsOrigin(script, identity) as origin, relay(origin, "--to-ca", authority.path) as proxy:
        with Client(proxy.address, timeout=60) as client:
            client.send(data)
            assert client.exactly(32).hex() == sha256(data)
            assert client.hash_to_end() == (len(data), sha256(data))
            assert client.ended == "eof"


def test_an_upstream_that_ends_without_close_notify_is_a_cut(authority, identity):
    def script(conn):
        conn.socket.sendall(b"half a messa")
        conn.socket.shutdown(2)

    with TlsOrigin(script, identity) as origin, relay(origin, "--to-ca", authority.path, access_log=True) as proxy:
        with Client(proxy.address) as client:
            assert client.to_end() == b"half a messa"
            assert client.ended == "reset"
        assert proxy.wait_access_lines()[0]["result"] in ("upstream_cut_short", "upstream_reset")


def test_an_upstream_that_speaks_no_tls(authority):
    with Origin(lambda conn: (conn.send(b"220 mail.example.test ESMTP\r\n"), conn.read_to_end())) as origin:
        with relay(origin, "--to-ca", authority.path) as proxy:
            assert exchange(proxy) == (b"", "reset")
            proxy.wait_log("reason=tls_failed side=upstream")


def test_an_upstream_that_is_silent_in_the_handshake(authority):
    with Origin(lambda conn: conn.read_to_end()) as origin:
        with relay(origin, "--to-ca", authority.path, "--set", "connect_timeout=300ms") as proxy:
            assert exchange(proxy) == (b"", "reset")
            proxy.wait_log("reason=connect_timed_out side=upstream")


def test_tls_on_both_sides(authority, identity):
    from tls_support import TlsClient, client_context
    with TlsOrigin(answer_once, identity) as origin:
        with relay(origin, "--to-ca", authority.path, *identity.arguments) as proxy:
            with TlsClient(proxy.address, client_context(authority)) as client:
                client.send(b"hello")
                assert client.to_end() == b"you said hello"
                assert client.ended == "eof"


@pytest.mark.parametrize("args, word", [
    (["relay", ":0", "--to", "h:1", "--to-tls", "--to-ca", "/nowhere.pem"], "/nowhere.pem"),
    (["relay", ":0", "--to", "h:1", "--to-insecure"], "--to-tls"),
    (["relay", ":0", "--to", "h:1", "--to-tls", "--to-insecure", "--to-ca", "x"], "--to-insecure"),
    (["relay", ":0", "--to", "h:1", "--to-tls", "--set", "to_tls.key=x"], "to_tls.key"),
    (["http", "127.0.0.1:0", "--set", "to_tls.ca=x"], "only a relay")])
def test_a_start_that_cannot_be(args, word):
    done = run(*args)
    assert done.returncode == 1 and word in done.stderr, done.stderr
