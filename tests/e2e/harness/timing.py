"""Deadlines. Every limit on time is stretched by HEADRACE_SLOW, for sanitizer builds and slow machines."""

import os
import time

SLOW = float(os.environ.get("HEADRACE_SLOW", "1"))


def limit(seconds):
    """A time limit of `seconds` on an unhurried machine, in seconds on this one."""
    return seconds * SLOW


def wait_until(condition, seconds=2.0, what=""):
    """Polls until `condition()` is true and returns its value; fails with `what` at the deadline."""
    deadline = time.monotonic() + limit(seconds)
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            text = what() if callable(what) else what
            raise AssertionError(f"not within {limit(seconds):g} s: {text or condition}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


class Stopwatch:
    """Seconds since it was made: `Stopwatch().seconds`."""

    def __init__(self):
        self._start = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self._start
