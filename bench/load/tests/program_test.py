"""headrace-load as a program: every scenario against its own origin, and against servers and
proxies, written here, that do what the client has to notice."""

import contextlib
import json
import os
import signal
import socket
import socketserver
import struct
import subprocess
import threading
import time

import pytest

PROGRAM = os.environ["HEADRACE_LOAD"]
SHORT = ["--seconds", "0.4", "--warmup", "0.1"]


def pattern(length, offset=0):
    return subprocess.run([PROGRAM, "pattern", str(length), str(offset)], check=True,
                          capture_output=True).stdout


class Origin:
    """The program's own origin; `ports` by role, `counts` after stop()."""

    def __init__(self, roles, *options):
        words = [PROGRAM, "origin", *options]
        for role in roles:
            words += ["--listen", f"{role}:127.0.0.1:0"]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ports = {}
        for _ in roles:
            _, role, address = self.process.stderr.readline().split()
            self.ports[role] = int(address.rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=10)
        return json.loads(out)


@contextlib.contextmanager
def origin(*roles, options=()):
    served = Origin(roles or ["http"], *options)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
            served.process.communicate()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-out", cert, "-keyout", key],
                   check=True, capture_output=True)
    return str(cert), str(key)


def client(scenario, port, *options, status=0, timeout=SHORT, stdin=subprocess.DEVNULL):
    ran = subprocess.run([PROGRAM, "client", scenario, "--connect", f"127.0.0.1:{port}",
                          *timeout, *map(str, options)],
                         stdin=stdin, capture_output=True, text=True, timeout=60)
    assert ran.returncode == status, ran.stderr
    return json.loads(ran.stdout)


def client_until(enough, *words, **keywords):
    """The client's result once it holds what enough() asks for: a run that the machine gave no time
    is repeated, longer."""
    for seconds in (0.4, 2, 10):
        keywords["timeout"] = ["--seconds", str(seconds), "--warmup", "0.1",
                               "--establish", str(25 * seconds)]
        result = client(*words, **keywords)
        if enough(result):
            break
    return result


def assert_clean(result):
    assert (result["errors"], result["timeouts"], result["unfinished"]) == (0, 0, 0), result
    assert result["first_error"] == ""


@contextlib.contextmanager
def server(handle):
    """A thread per connection that runs handle(socket)."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                handle(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running.server_address[1]
        running.shutdown()


def read_head(connection):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return None
        head += byte
    return head


def asked_for(head):
    """SIZE and OFFSET of the request's /b/SIZE/OFFSET."""
    path = head.split(b" ")[1].split(b"/b/")[1]
    return [int(number) for number in path.split(b"/")]


def answer(body, fields=b""):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n" % (len(body), fields) + body


# The client against the origin

HTTP_LOADS = [
    ("request",),
    ("request", "--requests-per-connection", 1),
    ("request", "--requests-per-connection", 7, "--answer", 70000),
    ("request", "--answer", 3000000, "--connections", 4, "--check", "full"),
    ("request", "--answer", 3000000, "--connections", 4, "--check", "length"),
    ("request", "--answer", 50000, "--body", 2000, "--connections", 200),
    ("request", "--answer", 0, "--body", 500000, "--connections", 8),
    ("mix", "--connections", 200, "--active", 50, "--think-ms", 1),
    ("mix", "--connections", 200, "--rate", 1000, "--half-close", 0.5),
    ("rate", "--rate", 500),
    ("rate", "--rate", 500, "--arrivals", "fixed", "--connections", 20),
]


@pytest.mark.parametrize("load", HTTP_LOADS, ids=lambda load: "-".join(map(str, load)))
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_http_loads_run_without_a_fault(load, tls, certificate):
    role = "http+tls" if tls else "http"
    options = ["--cert", certificate[0], "--key", certificate[1]] if tls else []
    more = ["--tls", "--tls-ca", certificate[0], "--tls-name", "localhost"] if tls else []
    if tls and load[0] == "rate":
        more += ["--rate", 100]  # what full handshakes leave of a shared CPU
    with origin(role, options=options) as served:
        result = client_until(lambda result: result["requests"] > 20, load[0],
                              served.ports[role], *load[1:], *more)
        counts = served.stop()
    assert_clean(result)
    assert result["requests"] > 20 and result["p50_ms"] > 0
    assert counts["wrong_bodies"] == counts["bad_requests"] == 0


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_streams_and_messages_run_without_a_fault(tls, certificate):
    roles = [role + ("+tls" if tls else "") for role in ("sink", "source", "echo")]
    options = ["--cert", certificate[0], "--key", certificate[1]] if tls else []
    more = ["--tls"] if tls else []
    with origin(*roles, options=options) as served:
        sink, source, echo = (served.ports[role] for role in roles)
        fast = lambda result: result["gbit"] > 0.1
        up = client_until(fast, "stream", sink, "--connections", 2, *more)
        down = client_until(fast, "stream", source, "--direction", "down", "--check", "full", *more)
        messages = client("message", echo, "--connections", 50, "--interval", 0.1, *more)
        counts = served.stop()
    for result in (up, down, messages):
        assert_clean(result)
    assert up["requests"] is None and up["gbit"] > 0.1 and down["gbit"] > 0.1
    assert 0 < up["bytes"] <= counts["bytes_in"] and 0 < down["bytes"] <= counts["bytes_out"]
    # 500 a second are due; on a busy machine the last ones end after the measured time.
    assert 100 < messages["rate"] < 550


def test_tls_is_verified_where_an_authority_is_given(certificate):
    with origin("http+tls", options=["--cert", certificate[0], "--key", certificate[1]]) as served:
        result = client("request", served.ports["http+tls"], "--tls", "--tls-ca", certificate[0],
                        "--tls-name", "another.test", "--establish", 2, status=1)
    assert result["errors_by"]["connect"] > 0
    assert result["first_error"] == "TLS handshake: TLS failed"


def test_idle_holds_its_connections_until_standard_input_ends():
    with origin() as served:
        process = subprocess.Popen(
            [PROGRAM, "client", "idle", "--connect", f"127.0.0.1:{served.ports['http']}",
             "--connections", "300", "--exchanges", "2"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr.readline().startswith("event established connections=300 ")
        assert process.poll() is None
        out, _ = process.communicate("", timeout=10)
        counts = served.stop()
    assert_clean(json.loads(out))
    assert (counts["connections"], counts["requests"]) == (300, 600)


def test_a_held_connection_that_is_ended_is_told_and_replaced():
    connections = []
    enough, replaced = threading.Event(), threading.Event()

    def handle(connection):
        connections.append(connection)
        if len(connections) > 5:
            replaced.set()
            connection.recv(1)
        enough.wait(10)

    with server(handle) as port:
        process = subprocess.Popen(
            [PROGRAM, "client", "idle", "--connect", f"127.0.0.1:{port}", "--connections", "5"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr.readline().startswith("event established")
        enough.set()
        assert replaced.wait(10)
        out, _ = process.communicate("", timeout=10)
    assert json.loads(out)["errors_by"]["reset"] >= 1


def test_connections_come_from_all_source_addresses():
    seen = set()

    def handle(connection):
        seen.add(connection.getpeername()[0])
        head = read_head(connection)
        connection.sendall(answer(pattern(*asked_for(head)), b"Connection: close\r\n"))

    with server(handle) as port:
        client("rate", port, "--rate", 50, "--source", "127.0.0.2-127.0.0.5", "--answer", 10)
    assert seen == {f"127.0.0.{i}" for i in range(2, 6)}


def test_a_signal_ends_the_run_with_what_was_measured():
    with origin() as served:
        process = subprocess.Popen(
            [PROGRAM, "client", "request", "--connect", f"127.0.0.1:{served.ports['http']}",
             "--seconds", "60", "--warmup", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.stderr.readline() != "event measuring\n":
            pass
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=10)
    result = json.loads(out)
    assert process.returncode == 0
    assert 0.2 < result["seconds"] < 30
    assert result["rate"] == pytest.approx(result["requests"] / result["seconds"], rel=0.01)


# Servers that misbehave

def change_a_byte(body):
    at = len(body) // 2
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


WRONG_ANSWERS = {
    "changed byte": lambda size, offset: answer(change_a_byte(pattern(size, offset))),
    "another's content": lambda size, offset: answer(pattern(size, offset + 1)),
    "another length": lambda size, offset: answer(pattern(size + 1, offset)),
    "more than announced": lambda size, offset: answer(pattern(size, offset)) + b"x",
    "status": lambda size, offset: b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    "no HTTP": lambda size, offset: b"hello\r\n\r\n",
    "chunked": lambda size, offset:
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "unannounced and too long": lambda size, offset:
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + pattern(size + 1, offset),
}


@pytest.mark.parametrize("fault", WRONG_ANSWERS)
def test_wrong_answers_are_told(fault):
    def handle(connection):
        connection.sendall(WRONG_ANSWERS[fault](*asked_for(read_head(connection))))
        connection.recv(1)

    with server(handle) as port:
        result = client("request", port, "--connections", 2, "--check", "full")
    assert result["errors_by"]["wrong"] > 0, result
    assert result["errors_by"]["wrong"] == result["errors"]
    assert result["requests"] == 0 or fault == "more than announced"


def test_an_answer_without_length_is_taken_to_its_end():
    def handle(connection):
        size, offset = asked_for(read_head(connection))
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + pattern(size, offset))

    with server(handle) as port:
        result = client("request", port, "--connections", 2)
    assert_clean(result)
    assert result["requests"] > 0


def test_an_answer_in_single_bytes_is_right():
    def handle(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (head := read_head(connection)) is not None:
            for byte in answer(pattern(*asked_for(head))):
                connection.sendall(bytes([byte]))

    with server(handle) as port:
        result = client("request", port, "--connections", 1, "--answer", 50, "--check", "full")
    assert_clean(result)
    assert result["requests"] > 0


def test_an_answer_cut_short_is_told_by_fin_and_by_reset():
    def handle(connection, linger):
        size, offset = asked_for(read_head(connection))
        connection.sendall(answer(pattern(size, offset))[:-10])
        time.sleep(0.02)
        if linger:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    for linger in (False, True):
        with server(lambda connection: handle(connection, linger)) as port:
            result = client("request", port, "--connections", 2)
        assert result["errors_by"]["short"] == result["errors"] > 0, result
        assert "of 1024 bytes" in result["first_error"]


def test_an_end_before_the_answer_is_told_as_reset():
    with server(read_head) as port:
        result = client("request", port, "--connections", 2)
    assert result["errors_by"]["reset"] == result["errors"] > 0, result


def test_a_proxy_that_ends_a_kept_connection_is_asked_once_more_over_a_new_one():
    def handle(connection):
        connection.sendall(answer(pattern(*asked_for(read_head(connection)))))
        read_head(connection)  # the next one is not answered

    with server(handle) as port:
        proxied = client("request", port, "--mode", "http", "--connections", 2)
        mixed = client("mix", port, "--mode", "http", "--connections", 20, "--rate", 50)
        relayed = client("request", port, "--connections", 2)
    assert_clean(proxied)
    assert proxied["repeats"] > 0 and proxied["requests"] > 0
    assert_clean(mixed)
    # What a relay or a tunnel cuts is lost.
    assert relayed["repeats"] == 0 and relayed["errors_by"]["reset"] > 0


def test_a_proxy_that_never_answers_a_repeated_request_is_told():
    connections = []

    def handle(connection):
        connections.append(connection)
        head = read_head(connection)
        if len(connections) > 1:
            return
        connection.sendall(answer(pattern(*asked_for(head))))
        read_head(connection)

    with server(handle) as port:
        result = client("request", port, "--mode", "http", "--connections", 1)
    assert result["repeats"] == 1 and result["errors_by"]["reset"] > 0


def test_silence_is_told_as_timeout_and_counts_with_the_time_it_lasted():
    def handle(connection):
        read_head(connection)
        connection.recv(1)

    with server(handle) as port:
        result = client("request", port, "--connections", 2, "--timeout", 0.1)
    assert result["timeouts"] > 0 and result["errors"] == 0, result
    assert result["max_ms"] >= 100


def test_nobody_listening_is_told_and_cannot_be_measured():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        result = client("request", taken.getsockname()[1], "--establish", 0.3, status=1)
    assert result["errors_by"]["connect"] > 0 and result["requests"] == 0
    assert result["first_error"] == "connect: Connection refused"


@pytest.mark.parametrize("words", [
    [], ["unknown"], ["request"], ["request", "--connect", "localhost:80"],
    ["request", "--connect", "127.0.0.1:80", "--rate", "5"],
    ["stream", "--connect", "127.0.0.1:80", "--mode", "http"],
])
def test_wrong_usage_is_refused_with_2(words):
    ran = subprocess.run([PROGRAM, "client", *words], capture_output=True, text=True)
    assert ran.returncode == 2 and ran.stderr


# Open loop

def stalling(stall_s):
    """Answers one after the other; once, half a second after the first request, everything stands
    still for a while."""
    lock = threading.Lock()
    state = {"first": None, "stalled": False}

    def handle(connection):
        while (head := read_head(connection)) is not None:
            with lock:
                now = time.monotonic()
                state["first"] = state["first"] or now
                if not state["stalled"] and now - state["first"] > 0.5:
                    state["stalled"] = True
                    time.sleep(stall_s)
            connection.sendall(answer(b""))

    return handle


def test_an_open_loop_shows_the_queue_that_a_closed_loop_hides():
    seconds = ["--seconds", "1.5", "--warmup", "0.1"]
    with server(stalling(0.4)) as port:
        opened = client("rate", port, "--rate", 200, "--arrivals", "fixed", "--answer", 0,
                        timeout=seconds)
    with server(stalling(0.4)) as port:
        closed = client("request", port, "--connections", 1, "--answer", 0, timeout=seconds)
    # 80 of 300 arrivals fall into the stall: more than a tenth waits longer than 200 ms. The closed
    # loop has one slow request among hundreds.
    assert opened["p90_ms"] > 200
    assert closed["p90_ms"] < 100
    assert opened["unfinished"] == 0 and 200 < opened["requests"] < 330


def test_a_closed_loop_shows_clients_that_starve():
    lock, served = threading.Lock(), [0]

    def handle(connection):
        with lock:
            served[0] += 1
            starves = served[0] % 5 == 0
        while (head := read_head(connection)) is not None:
            if starves:
                connection.recv(1)
                return
            time.sleep(0.01)
            connection.sendall(answer(pattern(*asked_for(head))))

    with server(handle) as port:
        result = client("request", port, "--connections", 5, "--answer", 0, timeout=SHORT)
    # 4 clients with 40 answers each, and one that has waited for longer than the measured time.
    assert result["p50_ms"] < 100
    assert result["max_ms"] >= 400


def test_an_open_loop_waits_for_a_free_connection_on_the_clock_of_the_exchange():
    def handle(connection):
        while (head := read_head(connection)) is not None:
            time.sleep(0.05)
            connection.sendall(answer(pattern(*asked_for(head)), b"Connection: close\r\n"))
            return

    # One place, 20 exchanges a second at most, 40 due: the queue grows for as long as the run.
    with server(handle) as port:
        result = client("rate", port, "--rate", 40, "--connections", 1, "--answer", 1,
                        "--arrivals", "fixed", timeout=["--seconds", "1", "--warmup", "0"])
    assert result["rate"] < 25
    assert result["max_ms"] > 500
    assert result["schedule_lag_p99_ms"] < result["max_ms"] / 2
    assert result["unfinished"] == 0


# Proxies

def relay(one, other):
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=copy, args=(one, other), daemon=True)
    thread.start()
    copy(other, one)
    thread.join()


def receive(connection, length):
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        assert piece
        data += piece
    return data


def test_an_upload_whose_reports_do_not_come_through_is_counted_where_it_is_taken():
    taken = []

    def handle(connection):
        before = time.monotonic()
        total = 0
        while data := connection.recv(1 << 16):
            total += len(data)
        taken.append(total * 8 / (time.monotonic() - before))

    with server(handle) as port:
        result = client("stream", port, "--connections", 1, "--direction", "up",
                        timeout=["--seconds", "1", "--warmup", "0.3"])
    assert result["errors"] == 0 and result["bytes"] > 0, result
    # The machine may take its time from either of us, but not a half.
    assert 0.5 < result["gbit"] * 1e9 / taken[0] < 2, (result, taken)


def connect_proxy(asked):
    def handle(connection):
        head = read_head(connection)
        asked.append(head.decode())
        host, port = head.split(b" ")[1].decode().rsplit(":", 1)
        with socket.create_connection((host, int(port))) as upstream:
            connection.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
            relay(connection, upstream)

    return handle


def socks_proxy(asked):
    def handle(connection):
        assert receive(connection, 3) == b"\5\1\2"
        connection.sendall(b"\5\2")
        name = receive(connection, receive(connection, 2)[1])
        password = receive(connection, receive(connection, 1)[0])
        asked.append((name, password))
        connection.sendall(b"\1\0")
        assert receive(connection, 4) == b"\5\1\0\1"
        host = socket.inet_ntoa(receive(connection, 4))
        port = struct.unpack(">H", receive(connection, 2))[0]
        with socket.create_connection((host, port)) as upstream:
            connection.sendall(b"\5\0\0\3\4name\0\0")
            relay(connection, upstream)

    return handle


@pytest.mark.parametrize("mode", ["connect", "socks5"])
def test_loads_go_through_tunnels(mode):
    asked = []
    proxy = connect_proxy(asked) if mode == "connect" else socks_proxy(asked)
    with origin("http", "sink", "source", "echo") as served, server(proxy) as port:
        def through(scenario, role, *options):
            return client(scenario, port, "--mode", mode, "--user", "me:secret", "--target",
                          f"127.0.0.1:{served.ports[role]}", "--connections", 4, *options)

        for result in (through("request", "http"),
                       through("request", "http", "--requests-per-connection", 1),
                       through("mix", "http", "--half-close", 1, "--think-ms", 1),
                       through("stream", "sink"),
                       through("stream", "source", "--direction", "down"),
                       through("message", "echo", "--interval", 0.1)):
            assert_clean(result)
    if mode == "connect":
        assert "\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in asked[0]
    else:
        assert asked[0] == (b"me", b"secret")


def test_http_proxies_are_asked_with_absolute_uris():
    heads = []

    def handle(connection):
        while (head := read_head(connection)) is not None:
            heads.append(head)
            connection.sendall(answer(pattern(*asked_for(head))))

    with server(handle) as port:
        result = client("request", port, "--mode", "http", "--target", "origin.test:81",
                        "--user", "me:secret", "--connections", 1)
    assert_clean(result)
    assert heads[0].startswith(b"GET http://origin.test:81/b/1024/")
    assert b"\r\nHost: origin.test:81\r\n" in heads[0]
    assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in heads[0]


def test_a_refused_tunnel_is_a_connect_error():
    def handle(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 407 Who are you\r\n\r\n")

    with server(handle) as port:
        result = client("rate", port, "--mode", "connect", "--rate", 50)
    assert result["errors_by"]["connect"] == result["errors"] > 0
    assert result["first_error"] == "CONNECT: HTTP/1.1 407 Who are you"


# The origin alone

def talk(port, request, half_close=False):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        data = b""
        while piece := connection.recv(65536):
            data += piece
        return data


def test_the_origin_answers_pipelined_requests_in_order():
    with origin() as served:
        data = talk(served.ports["http"],
                    b"GET /b/5/3 HTTP/1.1\r\n\r\nGET http://any/b/2000000 HTTP/1.1\r\n\r\n"
                    b"GET /b/7 HTTP/1.0\r\n\r\n")
    bodies = [part.split(b"\r\n\r\n", 1)[1] for part in data.split(b"HTTP/1.1 200 OK\r\n")[1:]]
    assert bodies == [pattern(5, 3), pattern(2000000), pattern(7)]


def test_the_origin_reads_bodies_of_either_framing_and_tells_wrong_ones():
    body = pattern(50, 9)
    chunked = b"14\r\n" + body[:20] + b"\r\n1e;x\r\n" + body[20:] + b"\r\n0\r\n\r\n"
    with origin() as served:
        right = talk(served.ports["http"],
                     b"POST /b/3/9 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked +
                     b"POST /b/3/9 HTTP/1.1\r\nContent-Length: 50\r\nConnection: close\r\n\r\n" +
                     body)
        wrong = talk(served.ports["http"],
                     b"POST /b/3/8 HTTP/1.1\r\nContent-Length: 50\r\nConnection: close\r\n\r\n" +
                     body)
        counts = served.stop()
    assert right.count(b"200 OK") == 2 and right.endswith(pattern(3, 9))
    assert b"500 Body Differs" in wrong
    assert counts["wrong_bodies"] == 1 and counts["bytes_in"] == 150


def test_the_origin_answers_a_client_that_half_closed():
    with origin() as served:
        data = talk(served.ports["http"], b"GET /b/3000000 HTTP/1.1\r\n\r\n", half_close=True)
    assert data.endswith(pattern(3000000))


def test_the_origin_refuses_what_it_does_not_serve():
    with origin() as served:
        def status(request):
            return talk(served.ports["http"], request).split(b"\r\n")[0]

        close = b" HTTP/1.1\r\nConnection: close\r\n\r\n"
        assert status(b"GET /c" + close) == b"HTTP/1.1 404 Not Found"
        assert status(b"PUT /b/1" + close) == b"HTTP/1.1 405 Method Not Allowed"
        assert status(b"nonsense\r\n\r\n") == b"HTTP/1.1 400 Bad Request"
        assert status(b"GET /b/1 HTTP/1.1\r\n" + b"x" * 20000) == b"HTTP/1.1 400 Bad Request"


def test_the_sink_reports_what_it_has_once_the_stream_has_begun():
    with origin("sink") as served:
        with socket.create_connection(("127.0.0.1", served.ports["sink"])) as connection:
            connection.settimeout(0.3)  # three reports' time
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(10)
            connection.sendall(bytes(123456))
            reports = [0]
            while reports[-1] < 123456:
                reports += struct.unpack("<Q", receive(connection, 8))
    assert reports == sorted(reports) and reports[-1] == 123456


def test_the_echo_returns_everything_though_nobody_reads_for_a_while():
    with origin("echo") as served:
        with socket.create_connection(("127.0.0.1", served.ports["echo"])) as connection:
            sent = pattern(8_000_000)
            thread = threading.Thread(
                target=lambda: (connection.sendall(sent), connection.shutdown(socket.SHUT_WR)))
            thread.start()
            time.sleep(0.2)
            data = b""
            while piece := connection.recv(1 << 20):
                data += piece
            thread.join()
    assert data == sent
