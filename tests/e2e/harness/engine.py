"""Which engine the headrace under test waits with: HEADRACE_TEST_ENGINE (epoll, io_uring), or its own choice."""

import os
import subprocess

VARIABLE = "HEADRACE_TEST_ENGINE"
SKIPPED = 77  # ctest shows a run that ends so as skipped


def arguments(given):
    """What to add to a service command's arguments."""
    engine = os.environ.get(VARIABLE)
    return ["--engine", engine] if engine and "--engine" not in given else []


def is_missing(binary):
    """Whether the engine asked for cannot be had on this machine."""
    return os.environ.get(VARIABLE) == "io_uring" and not has_io_uring(binary)


def has_io_uring(binary):
    # Nobody comes to that port: a headrace that has io_uring listens there until it is ended.
    command = [binary, "relay", "127.0.0.1:0", "--to", "127.0.0.1:9", "--engine", "io_uring"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.readline()
        process.kill()
    return "no io_uring" not in said
