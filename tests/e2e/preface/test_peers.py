"""sni and the PROXY protocol with the programs that people use: haproxy, nginx, openssl, curl."""

import contextlib
import re
import ssl

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from harness.proxy import run as run_headrace

from .peers import Server, haproxy, make_certificate, nginx, run

NAMES = ("o.example.test", "other.example.test")
ACCEPT = ("--set", "accept_proxy_protocol=127.0.0.1")


@pytest.fixture(scope="module", name="certificates")
def certificates_fixture(tmp_path_factory):
    """{name: (certificate, key)}."""
    folder = tmp_path_factory.mktemp("certificates")
    return {name: make_certificate(folder, name) for name in NAMES}


def curl(*args, expect=0):
    return run("curl", "-sS", "-m", "15", "--noproxy", "*", *args, expect=expect)


def curl_through(proxy, name, certificate, expect=0):
    """Fetches https://NAME/ by the proxy's address, the certificate verified for that name."""
    return curl("--connect-to", f"::127.0.0.1:{proxy.port}", "--cacert", certificate, f"https://{name}/", expect=expect)


# ---- sni ----

def _tls_server(certificates, name):
    """openssl s_server under that name, answering with a page about the connection."""
    certificate, key = certificates[name]
    return Server(lambda port: ("openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate, "-key",
                                key, "-www", "-quiet"))


@contextlib.contextmanager
def _servers_at_one_port(folder, certificates):
    """Two servers that share a port, as the servers of names do: o at 127.0.0.1, other at 127.0.0.2."""
    blocks = "http {\n"
    for address, name in zip(("127.0.0.1", "127.0.0.2"), NAMES):
        certificate, key = certificates[name]
        blocks += (f"  server {{ listen {address}:{{port}} ssl; ssl_certificate {certificate}; ssl_certificate_key {key};\n"
                   f'    location / {{ return 200 "{name} by $ssl_server_name\\n"; }} }}\n')
    with nginx(folder, blocks + "}\n") as server:
        yield server


def test_each_name_gets_to_its_server(tmp_path, dns, certificates):
    """Certificates are verified end to end: nobody in between has a key."""
    dns.add("other.example.test", "127.0.0.2")
    with _servers_at_one_port(tmp_path, certificates) as server:
        with Proxy("sni", "--to-port", server.port, *dns.options()) as proxy:
            for name in NAMES * 3:
                assert curl_through(proxy, name, certificates[name][0]) == f"{name} by {name}\n"


@pytest.mark.parametrize("options", (("-tls1_2",), ("-tls1_3",), ("-tls1_3", "-max_send_frag", "512", "-groups",
                                                                  "P-521:P-384:P-256")))
def test_openssl_on_both_sides(dns, certificates, options):
    certificate, _ = certificates["o.example.test"]
    with _tls_server(certificates, "o.example.test") as server:
        with Proxy("sni", "--to-port", server.port, *dns.options()) as proxy:
            said = run("openssl", "s_client", "-connect", f"127.0.0.1:{proxy.port}", "-servername", "o.example.test",
                       "-CAfile", certificate, "-verify_return_error", "-verify_hostname", "o.example.test", *options)
            assert re.search(r"Verif(y return code|ication): (0 \(ok\)|OK)", said), said


@pytest.mark.parametrize("options, alert", ((("-servername", "nobody.example.test"), "alert number 112"),
                                            (("-noservername",), "alert number 109")))
def test_openssl_shows_why_it_was_refused(dns, options, alert):
    with Proxy("sni", *dns.options()) as proxy:
        said = run("openssl", "s_client", "-connect", f"127.0.0.1:{proxy.port}", *options, expect=1)
        assert alert in said, said


def test_curl_shows_why_it_was_refused(dns, certificates):
    with Proxy("sni", *dns.options()) as proxy:
        said = curl_through(proxy, "nobody.example.test", certificates["o.example.test"][0], expect=35)
        assert "unrecognized name" in said, said


def test_haproxy_reads_the_name_that_sni_tells(tmp_path, dns, certificates):
    """It passes on only what came with that name in its header."""
    certificate, _ = certificates["o.example.test"]
    with _tls_server(certificates, "o.example.test") as server, haproxy(tmp_path, f"""
listen in
  mode tcp
  bind 127.0.0.1:{{port}} accept-proxy
  tcp-request content reject if !{{ fc_pp_authority o.example.test }}
  server tls 127.0.0.1:{server.port}
""") as peer:
        with Proxy("sni", "--to-port", peer.port, *dns.options(), "--set", "send_proxy_protocol=v2") as proxy:
            assert "TLSv1.3" in curl_through(proxy, "o.example.test", certificate)
            curl_through(proxy, "other.example.test", certificate, expect=35)


# ---- the PROXY protocol to upstreams ----

_ENDS = "%[src] %[src_port] %[dst] %[dst_port]"
HAPROXY_ORIGIN = f"""
frontend in
  mode http
  bind 127.0.0.1:{{port}} accept-proxy
  http-request return status 200 content-type text/plain lf-string "{_ENDS}"
"""
NGINX_ORIGIN = """http {
  server {
    listen 127.0.0.1:{port} proxy_protocol;
    location / {
      return 200 "$proxy_protocol_addr $proxy_protocol_port $proxy_protocol_server_addr $proxy_protocol_server_port";
    }
  }
}
"""


@pytest.mark.parametrize("version", ("v1", "v2"))
@pytest.mark.parametrize("peer, config", ((haproxy, HAPROXY_ORIGIN), (nginx, NGINX_ORIGIN)))
def test_upstreams_understand_what_they_are_told(tmp_path, peer, config, version):
    with peer(tmp_path, config) as origin:
        with Proxy("relay", "--to", f"127.0.0.1:{origin.port}", "--set", f"send_proxy_protocol={version}") as proxy:
            with Client(proxy.address) as client:
                client.send(f"GET / HTTP/1.1\r\nHost: {proxy.port}\r\nConnection: close\r\n\r\n")
                told = client.response().text
                own, to = client.socket.getsockname(), client.socket.getpeername()
            assert told == f"{own[0]} {own[1]} {to[0]} {to[1]}"


# ---- the PROXY protocol from those in front ----

HAPROXY_IN_FRONT = """
listen in
  mode tcp
  bind 127.0.0.1:{port}
  server headrace 127.0.0.1:UPSTREAM SEND
"""
NGINX_IN_FRONT = """stream {
  server {
    listen 127.0.0.1:{port};
    proxy_pass 127.0.0.1:UPSTREAM;
    proxy_protocol on;
  }
}
"""
IN_FRONT = {"haproxy v1": (haproxy, HAPROXY_IN_FRONT, "send-proxy"), "haproxy v2": (haproxy, HAPROXY_IN_FRONT, "send-proxy-v2"),
            "haproxy v2 with checksum and unique id": (haproxy, HAPROXY_IN_FRONT,
                                                       "send-proxy-v2 proxy-v2-options crc32c,unique-id"),
            "nginx": (nginx, NGINX_IN_FRONT, "")}


@pytest.mark.parametrize("which", IN_FRONT)
def test_those_in_front_tell_who_their_clients_are(tmp_path, which):
    peer, config, send = IN_FRONT[which]
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT, access_log=True) as proxy:
        text = config.replace("UPSTREAM", str(proxy.port)).replace("SEND", send)
        with peer(tmp_path, text) as front, Client(("127.0.0.1", front.port), source=("127.0.0.9", 0)) as client:
            client.send(b"payload")
            assert client.exactly(7) == b"payload"
            own = "%s:%d" % client.socket.getsockname()
            client.close()
            assert proxy.wait_access_lines()[0]["client"] == own


@pytest.mark.parametrize("command", ("http", "mixed"))
def test_haproxy_in_front_of_an_http_proxy(tmp_path, command):
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        with Proxy(command, *ACCEPT, "--allow", "127.0.0.0/8", access_log=True) as proxy:
            text = HAPROXY_IN_FRONT.replace("UPSTREAM", str(proxy.port)).replace("SEND", "send-proxy-v2")
            with haproxy(tmp_path, text) as front:
                done = run("curl", "-sS", "-m", "15", "-x", f"http://127.0.0.1:{front.port}", "--interface", "127.0.0.9",
                           f"http://{origin.authority}/")
                assert done == "in"
            assert proxy.wait_access_lines()[0]["client"].startswith("127.0.0.9:")


def test_haproxy_in_front_of_sni(tmp_path, dns, certificates):
    with _tls_server(certificates, "o.example.test") as server:
        with Proxy("sni", *ACCEPT, "--open", "--to-port", server.port, *dns.options()) as proxy:
            text = HAPROXY_IN_FRONT.replace("UPSTREAM", str(proxy.port)).replace("SEND", "send-proxy-v2")
            with haproxy(tmp_path, text) as front:
                assert "TLSv1.3" in curl_through(front, "o.example.test", certificates["o.example.test"][0])


def test_health_checks_of_haproxy_are_no_clients(tmp_path):
    """It connects, says LOCAL, and leaves: a check of a proxy that answers only requests stays silent."""
    with Proxy("http", *ACCEPT, "--open") as proxy:
        text = HAPROXY_IN_FRONT.replace("UPSTREAM", str(proxy.port)).replace(
            "SEND", "send-proxy-v2 check inter 50ms check-send-proxy")
        with haproxy(tmp_path, text) as front, Client(("127.0.0.1", front.port)) as client:
            client.expect_silence(0.5)
        assert "event=refused" not in proxy.log_text


def test_curl_sends_a_header():
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        with Proxy("relay", "--to", origin.authority, *ACCEPT, access_log=True) as proxy:
            assert curl("--haproxy-protocol", f"http://127.0.0.1:{proxy.port}/") == "in"
            assert [request.method for request in origin.requests] == ["GET"]


# ---- both with TLS: the header comes first, in plain text ----

def test_haproxy_in_front_of_a_tls_port(tmp_path, certificates):
    certificate, key = certificates["o.example.test"]
    tls = ("--tls-cert", certificate, "--tls-key", key)
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT, *tls, access_log=True) as proxy:
        text = HAPROXY_IN_FRONT.replace("UPSTREAM", str(proxy.port)).replace(
            "SEND", "send-proxy-v2 ssl verify required verifyhost o.example.test ca-file " + str(certificate))
        with haproxy(tmp_path, text) as front, Client(("127.0.0.1", front.port), source=("127.0.0.9", 0)) as client:
            client.send(b"payload")
            assert client.exactly(7) == b"payload"
            own = "%s:%d" % client.socket.getsockname()
            client.close()
            assert proxy.wait_access_lines()[0]["client"] == own


def test_a_header_and_a_client_hello_in_one_segment(certificates):
    """What was read behind the header belongs to the handshake."""
    certificate, key = certificates["o.example.test"]
    context = ssl.create_default_context(cafile=str(certificate))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="o.example.test")
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT, "--tls-cert", certificate,
                                       "--tls-key", key, access_log=True) as proxy:
        with Client(proxy.address) as client:
            with pytest.raises(ssl.SSLWantReadError):
                tls.do_handshake()
            client.send(b"PROXY TCP4 127.0.0.77 127.0.0.1 4242 443\r\n" + outgoing.read())
            while tls.version() is None or outgoing.pending:
                try:
                    tls.do_handshake()
                except ssl.SSLWantReadError:
                    incoming.write(client.socket.recv(65536))
                else:
                    client.send(outgoing.read())
        assert proxy.wait_access_lines()[0]["client"] == "127.0.0.77:4242"


@pytest.mark.parametrize("version", ("v1", "v2"))
def test_nginx_behind_with_tls(tmp_path, certificates, version):
    certificate, key = certificates["o.example.test"]
    config = NGINX_ORIGIN.replace("{port} proxy_protocol;", "{port} ssl proxy_protocol; "
                                  f"ssl_certificate {certificate}; ssl_certificate_key {key};")
    with nginx(tmp_path, config) as origin:
        with Proxy("relay", "--to", f"127.0.0.1:{origin.port}", "--to-tls", "--to-ca", certificate, "--to-name",
                   "o.example.test", "--set", f"send_proxy_protocol={version}") as proxy, Client(proxy.address) as client:
            client.send(f"GET / HTTP/1.1\r\nHost: {proxy.port}\r\nConnection: close\r\n\r\n")
            told = client.response().text
            own, to = client.socket.getsockname(), client.socket.getpeername()
        assert told == f"{own[0]} {own[1]} {to[0]} {to[1]}"


def test_sni_ends_no_tls(certificates):
    certificate, key = certificates["o.example.test"]
    done = run_headrace("sni", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key)
    assert done.returncode == 1 and "passes TLS through" in done.stderr
