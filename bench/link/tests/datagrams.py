"""Datagrams for program_test.py, run inside a namespace.

  datagrams.py send HOST PORT COUNT BYTES              all at once
  datagrams.py receive HOST FIRST_PORT PORTS SILENCE   says "ready", then, after the silence, per
                                                       port [count, first, last, bytes] as JSON
  datagrams.py echo HOST PORT                          says "ready"; sends back until it is ended
  datagrams.py ask HOST PORT COUNT                     says the round trips' milliseconds as JSON
Times are the kernel's, of the packets' arrival, where they are not round trips: when this
program runs does not matter."""

import json
import select
import socket
import struct
import sys
import time

SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35  # not in Python's socket module
IP_AND_UDP_HEAD = 28


def send(host, port, count, size):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((host, port))
        payload = bytes(size - IP_AND_UDP_HEAD)
        for _ in range(count):
            out.send(payload)


def receive(host, first_port, ports, silence):
    sockets = {}
    for port in range(first_port, first_port + ports):
        listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listening.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        listening.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        listening.bind((host, port))
        sockets[listening] = [0, 0, 0, 0]
    print("ready", flush=True)
    limit = 10  # for the first one
    while ready := select.select(list(sockets), [], [], limit)[0]:
        limit = silence
        for listening in ready:
            data, extra, _, _ = listening.recvmsg(65536, 64)
            seconds, nanos = struct.unpack("qq", extra[0][2])
            seen = sockets[listening]
            when = seconds + nanos / 1e9
            if seen[0] == 0:
                seen[1] = when
            seen[0] += 1
            seen[2] = when
            seen[3] += len(data) + IP_AND_UDP_HEAD
    print(json.dumps(list(sockets.values())))


def echo(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as both:
        both.bind((host, port))
        print("ready", flush=True)
        while True:
            data, asker = both.recvfrom(65536)
            both.sendto(data, asker)


def ask(host, port, count):
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as both:
        both.connect((host, port))
        both.settimeout(5)
        for _ in range(count):
            start = time.monotonic()
            both.send(b"x")
            both.recv(10)
            times.append((time.monotonic() - start) * 1e3)
    print(json.dumps(times))


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], *(int(word) for word in sys.argv[3:]))
    elif sys.argv[1] == "echo":
        echo(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "ask":
        ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        receive(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
