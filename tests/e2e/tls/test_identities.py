"""Who the proxy is to its clients, and who they have to be: files, names, kinds of keys, client certificates."""

import os
import re
import select
import signal
import ssl

import pytest

from harness.origin import Origin, echo, sink
from harness.proxy import Proxy, run
from harness.timing import limit, wait_until
from tls_support import Authority, TlsClient, client_context, openssl


@pytest.fixture(scope="module")
def origin():
    with Origin(echo) as server:
        yield server


def relay(origin, *args, **more):
    return Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *args, **more)


def certificate_seen(proxy, *args, name=None):
    """What `openssl s_client` is shown, with its words."""
    names = ("-servername", name) if name else ("-noservername",)
    done = openssl("s_client", "-connect", f"127.0.0.1:{proxy.port}", *names, "-showcerts", *args, stdin=b"Q\n",
                   check=False)
    return done.stdout.decode("latin-1") + done.stderr.decode("latin-1")


def subject_of(text):
    return re.search(r"subject=(?:.*)CN ?= ?([^\n,]*)", text).group(1)


# ---- start ----

def test_version_names_the_library():
    assert re.search(r"^tls: (OpenSSL 3|BoringSSL|AWS-LC)", run("version").stdout, re.M)


def faults(authority, identity, tmp_path):
    other = authority.issue("other.example.test")
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    half = tmp_path / "half.pem"
    half.write_text(identity.certificate.read_text()[:300])
    return {
        "missing certificate": (["--tls-cert", tmp_path / "none.pem", "--tls-key", identity.key], "none.pem"),
        "missing key": (["--tls-cert", identity.certificate, "--tls-key", tmp_path / "none.key"], "none.key"),
        "empty": (["--tls-cert", empty, "--tls-key", identity.key], "empty.pem"),
        "half": (["--tls-cert", half, "--tls-key", identity.key], "half.pem"),
        "no key inside": (["--tls-cert", identity.certificate, "--tls-key", identity.certificate],
                          identity.certificate.name),
        "mismatch": (["--tls-cert", identity.certificate, "--tls-key", other.key], other.key.name),
        "no key given": (["--tls-cert", identity.certificate], "--tls-cert"),
        "bad client_ca": ([*identity.arguments, "--set", f"tls.client_ca={empty}"], "empty.pem"),
        "unknown group": ([*identity.arguments, "--set", "tls.groups=rot13"], "rot13"),
        "unknown cipher": ([*identity.arguments, "--set", "tls.ciphers=rot13"], "rot13"),
    }


@pytest.mark.parametrize("fault", [
    "missing certificate", "missing key", "empty", "half", "no key inside", "mismatch", "no key given",
    "bad client_ca", "unknown group", "unknown cipher"])
def test_a_start_that_cannot_be_says_which_file(fault, authority, identity, tmp_path):
    args, word = faults(authority, identity, tmp_path)[fault]
    done = run("relay", "127.0.0.1:0", "--to", "127.0.0.1:9", *args)
    assert done.returncode == 1
    assert word in done.stderr, done.stderr


def test_a_key_that_everyone_can_read_is_warned_about(authority, origin):
    identity = authority.issue("o.example.test")
    identity.key.chmod(0o644)
    with relay(origin, *identity.arguments) as proxy:
        assert str(identity.key) in proxy.wait_log("level=warn event=certificate.*").group()
    identity.key.chmod(0o600)
    with relay(origin, *identity.arguments) as proxy:
        proxy.wait_log("event=started")
        assert "level=warn" not in proxy.log_text


# ---- names and kinds of keys ----

def test_B173_certificates_by_name(authority, origin):
    """Names were compared with case; a missing one crashed or went to a wrong place."""
    first, exact = authority.issue("first.example.test"), authority.issue("O.Example.test")
    wild = authority.issue("*.wild.example.test")
    args = [*first.arguments, *exact.arguments, *wild.arguments]
    with relay(origin, *args) as proxy:
        for name, want in {
                "O.EXAMPLE.TEST": "O.Example.test", "o.example.test": "O.Example.test",
                "a.wild.example.test": "*.wild.example.test", "A.WILD.example.test": "*.wild.example.test",
                "a.b.wild.example.test": "first.example.test", "wild.example.test": "first.example.test",
                "unknown.example.test": "first.example.test", None: "first.example.test"}.items():
            assert subject_of(certificate_seen(proxy, name=name)) == want, name


def test_B175_an_unknown_name_can_be_refused(authority, origin):
    """The wrong alert; and a resumed session slipped past the check of the name."""
    identity = authority.issue("o.example.test")
    with relay(origin, *identity.arguments, "--set", "tls.unknown_name=refused") as proxy:
        assert "unrecognized name" in certificate_seen(proxy, name="unknown.example.test")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = client_context(version=version)
            with TlsClient(proxy.address, context) as client:
                client.send(b"x")
                assert client.exactly(1) == b"x"
                session = client.socket.tls.session
            with pytest.raises(ssl.SSLError, match="(?i)unrecognized.name"):
                TlsClient(proxy.address, context, name="unknown.example.test", session=session)
        assert subject_of(certificate_seen(proxy)) == "o.example.test", "no name is none that is unknown"


@pytest.mark.parametrize("order", ["ec first", "rsa first"])
@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_ecdsa_and_rsa_together(version, order, authority, origin):
    ec = authority.issue("o.example.test", subject="/CN=ec")
    rsa = authority.issue("o.example.test", subject="/CN=rsa", key="rsa")
    pair = [ec, rsa] if order == "ec first" else [rsa, ec]
    with relay(origin, *pair[0].arguments, *pair[1].arguments) as proxy:
        for algorithms, want in (("ECDSA+SHA256", "ec"), ("RSA-PSS+SHA256:RSA+SHA256", "rsa"),
                                 ("ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256", "ec")):
            seen = certificate_seen(proxy, version, "-sigalgs", algorithms, name="o.example.test")
            assert subject_of(seen) == want, (algorithms, seen)


def test_the_whole_chain_is_given(authority, origin):
    inner = authority.issue(subject="/CN=Intermediate", is_authority=True)
    leaf = authority.issue("o.example.test", issuer=inner)
    with relay(origin, *leaf.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            client.send(b"x")
            assert client.exactly(1) == b"x"


@pytest.mark.parametrize("command, offered, want", [
    ("http", ["http/1.1"], "http/1.1"), ("http", ["h2", "http/1.1"], "http/1.1"), ("http", [], None),
    ("relay", ["h2"], None)])
def test_alpn(command, offered, want, authority, identity, origin):
    to = ("--to", f"127.0.0.1:{origin.port}") if command == "relay" else ()
    with Proxy(command, *to, *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority, alpn=offered)) as client:
            assert client.socket.tls.selected_alpn_protocol() == want


def test_alpn_without_a_common_protocol_is_refused(authority, identity):
    with Proxy("http", *identity.arguments) as proxy:
        with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
            TlsClient(proxy.address, client_context(authority, alpn=["h2"]))


def test_groups_and_ciphers_can_be_set(authority, identity, origin):
    with relay(origin, *identity.arguments, "--set", "tls.groups=P-384",
               "--set", "tls.ciphers=ECDHE-ECDSA-AES256-GCM-SHA384") as proxy:
        assert re.search(r"Temp Key: .*(P-384|secp384r1)", certificate_seen(proxy))
        assert "ECDHE-ECDSA-AES256-GCM-SHA384" in certificate_seen(proxy, "-tls1_2")


def test_default_ciphers(authority, identity, origin):
    with relay(origin, *identity.arguments) as proxy:
        # BoringSSL leaves the length of AES in TLS 1.3 to the client, and takes its ChaCha20 before our AES-128
        # also where another one comes first.
        boring = "BoringSSL" in run("version").stdout
        assert ("TLS_AES_" if boring else "TLS_AES_128_GCM_SHA256") in certificate_seen(proxy)
        assert ("ECDHE-ECDSA-" if boring else "ECDHE-ECDSA-AES128-GCM-SHA256") in certificate_seen(proxy, "-tls1_2")
        prefers_chacha = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256"
        assert "ECDHE-ECDSA-CHACHA20-POLY1305" in certificate_seen(proxy, "-tls1_2", "-cipher", prefers_chacha)


def test_the_staple_is_given(authority, identity, origin, tmp_path):
    index = tmp_path / "index.txt"
    index.write_text("")
    request, staple = tmp_path / "request.der", tmp_path / "staple.der"
    openssl("ocsp", "-issuer", authority.path, "-cert", identity.certificate, "-reqout", request, "-no_nonce")
    openssl("ocsp", "-index", index, "-rsigner", authority.path, "-rkey", authority.key, "-CA", authority.path,
            "-reqin", request, "-respout", staple, "-ndays", "5")
    with relay(origin, *identity.arguments, "--set", f"tls.staple={staple}") as proxy:
        assert "OCSP Response Status: successful" in certificate_seen(proxy, "-status", name="o.example.test")
    with relay(origin, *identity.arguments) as proxy:
        assert "no response sent" in certificate_seen(proxy, "-status", name="o.example.test")


# ---- sessions ----

@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_resume_at_every_worker(version, authority, identity, origin):
    with relay(origin, *identity.arguments, "--workers", "2") as proxy:
        context = client_context(authority, version=version)
        session, tickets = None, set()
        for number in range(8):
            with TlsClient(proxy.address, context, session=session) as client:
                client.send(b"x")
                assert client.exactly(1) == b"x"
                assert client.socket.tls.session_reused == (number > 0)
                session = client.socket.tls.session
                tickets.add(session.id)
        # A ticket of TLS 1.3 is for one use, so each connection has to give the next.
        assert len(tickets) == (8 if version == ssl.TLSVersion.TLSv1_3 else 1)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_ticket_keys_from_a_file_outlive_a_restart(version, authority, identity, origin, tmp_path):
    """And go when the file says so, at HUP."""
    keys = tmp_path / "tickets.key"
    old, new = os.urandom(80), os.urandom(80)
    context = client_context(authority, version=version)

    def exchange(proxy, session):
        with TlsClient(proxy.address, context, session=session) as client:
            client.send(b"x")
            assert client.exactly(1) == b"x"
            return client.socket.tls.session_reused, client.socket.tls.session

    def reload(proxy, content, word="event=reloaded"):
        keys.write_bytes(content)
        before = proxy.log_text.count(word)
        proxy.signal(signal.SIGHUP)
        wait_until(lambda: proxy.log_text.count(word) > before, 3, lambda: proxy.log_text)

    def start():
        return relay(origin, *identity.arguments, "--set", f"tls.ticket_keys={keys}")

    keys.write_bytes(old)
    keys.chmod(0o644)
    with start() as proxy:
        proxy.wait_log("event=ticket_keys.*can be read by everyone")
        reused, session = exchange(proxy, None)
        assert not reused
    with start() as proxy:
        assert exchange(proxy, session)[0]
        reload(proxy, new + old)
        reused, second = exchange(proxy, session)
        assert reused, "an older key still opens"
        reload(proxy, new)
        assert exchange(proxy, second)[0] and not exchange(proxy, session)[0]
        reload(proxy, b"short", "event=reload_failed")
        assert exchange(proxy, second)[0]
    keys.write_bytes(b"x" * 79)
    assert "tickets.key holds no ticket keys" in run(
        "relay", "127.0.0.1:0", "--to", "127.0.0.1:9", *identity.arguments, "--set", f"tls.ticket_keys={keys}").stderr


def test_a_ticket_leaves_with_the_first_bytes(authority, identity, origin):
    """By itself it would cost a packet that no client waits for."""
    with relay(origin, *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority, version=ssl.TLSVersion.TLSv1_3)) as client:
            assert not select.select([client.plain.socket], [], [], 0.3)[0]
            client.send(b"x")
            assert client.exactly(1) == b"x"
            assert client.socket.tls.session.has_ticket


def test_a_client_that_is_never_answered_gets_its_ticket(authority, identity):
    with Origin(sink) as silent, relay(silent, *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority, version=ssl.TLSVersion.TLSv1_3)) as client:
            for number in (1, 2):
                client.send(b"x")
                wait_until(lambda number=number: silent.connections and
                           silent.connections[0].received_bytes == number, 3, "the byte at the origin")
            # BoringSSL keeps tickets inside until there is something to write, however long.
            if "BoringSSL" not in run("version").stdout:
                assert select.select([client.plain.socket], [], [], limit(2))[0]
            client.fin()
            assert client.to_end().startswith(b"2 ")
            assert client.socket.tls.session.has_ticket


# ---- client certificates ----

@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("devices"), "Devices")


def try_client(proxy, context):
    """None where an exchange works, else the failure."""
    try:
        with TlsClient(proxy.address, context) as client:
            client.send(b"x")
            return None if client.exactly(1) == b"x" else "other bytes"
    except (ssl.SSLError, OSError, AssertionError) as error:
        return error


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_B185_client_certificates(version, authority, identity, devices, origin):
    """Leaks and wrong treatment of client certificates; a reset where an alert should be read."""
    good = devices.issue(subject="/O=Example/CN=device 7")
    inner = devices.issue(subject="/CN=Inner", is_authority=True)
    with relay(origin, *identity.arguments, "--set", f"tls.client_ca={devices.path}", access_log=True) as proxy:
        for refused in (None, authority.issue(subject="/CN=of another authority"), expired(devices)):
            failure = try_client(proxy, client_context(authority, refused, version=version))
            assert isinstance(failure, ssl.SSLError) and "alert" in str(failure).lower(), failure
        wait_until(lambda: proxy.log_text.count("reason=certificate_refused") == 3, 2, lambda: proxy.log_text)
        for identity_ in (good, devices.issue(subject="/CN=chained", issuer=inner)):
            assert try_client(proxy, client_context(authority, identity_, version=version)) is None
        lines = proxy.wait_access_lines(2)
        assert lines[0]["subject"] == "CN=device 7,O=Example"


def expired(devices):
    return devices.issue(subject="/CN=expired", days=-1)


def test_optional_client_certificates(authority, identity, devices, origin):
    with relay(origin, *identity.arguments, "--set", f"tls.client_ca={devices.path}",
               "--set", "tls.client_certificate=optional", access_log=True) as proxy:
        assert try_client(proxy, client_context(authority)) is None
        assert "subject" not in proxy.wait_access_lines(1)[0]
        assert try_client(proxy, client_context(authority, devices.issue(subject="/CN=a"))) is None
        assert proxy.wait_access_lines(2)[1]["subject"] == "CN=a"
        assert try_client(proxy, client_context(authority, authority.issue(subject="/CN=b"))) is not None


# ---- reload ----

def swap(identity, to):
    for path, new in ((identity.certificate, to.certificate), (identity.key, to.key)):
        path.write_text(new.read_text())


def test_B163_certificates_reload(authority, origin):
    """New certificates came only with a restart; half-written files lost all of them."""
    used, other = authority.issue("o.example.test", subject="/CN=one"), authority.issue("other.example.test")
    inner = authority.issue(subject="/CN=Inner", is_authority=True)
    second = authority.issue("o.example.test", subject="/CN=two", issuer=inner)
    with relay(origin, *used.arguments, *other.arguments) as proxy:
        held = TlsClient(proxy.address, client_context(authority))
        assert subject_of(certificate_seen(proxy, name="o.example.test")) == "one"

        swap(used, second)
        proxy.signal(signal.SIGHUP)
        wait_until(lambda: subject_of(certificate_seen(proxy, name="o.example.test")) == "two", 3)
        assert certificate_seen(proxy, name="o.example.test").count("BEGIN CERTIFICATE") >= 2

        used.key.write_text(other.key.read_text())
        other.certificate.write_text("")
        proxy.signal(signal.SIGHUP)
        wait_until(lambda: proxy.log_text.count("event=reload_failed") == 2, 3)
        assert str(used.key) in proxy.log_text and str(other.certificate) in proxy.log_text
        assert subject_of(certificate_seen(proxy, name="o.example.test")) == "two"
        assert subject_of(certificate_seen(proxy, name="other.example.test")) == "other.example.test"

        held.send(b"still there")
        assert held.exactly(11) == b"still there"
        held.close()
