#!/usr/bin/python3
"""Stands in for headrace-load where a test is about the lab: same words, same events, made-up figures.

What the client tells is changed by the environment: FAKE_RESULT, a JSON object laid over its result, and
FAKE_SECONDS, how long it measures whatever --seconds says.
"""

import json
import os
import socket
import sys
import time


def option(name, default=""):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def origin():
    _, host, port = option("--listen").split(":")
    listener = socket.create_server((host, int(port)))
    while True:
        listener.accept()


def client():
    host, port = option("--connect").split(":")
    socket.create_connection((host, int(port)), timeout=5).close()
    for event in ("established connections=1 seconds=0.001", "measuring"):
        print("event", event, file=sys.stderr, flush=True)
    seconds = float(os.environ.get("FAKE_SECONDS") or option("--seconds", "1"))
    time.sleep(seconds)
    print("event measured", file=sys.stderr, flush=True)
    result = {"seconds": seconds, "requests": 1000, "rate": 1000 / seconds, "bytes": 1024000, "gbit": 0.008192 / seconds,
              "p50_ms": 1.0, "p90_ms": 2.0, "p99_ms": 3.0, "errors": 0, "timeouts": 0, "errors_by": {"wrong": 0},
              "first_error": "", "schedule_lag_p99_ms": None}
    print(json.dumps({**result, **json.loads(os.environ.get("FAKE_RESULT", "{}"))}))


{"origin": origin, "client": client}[sys.argv[1]]()
