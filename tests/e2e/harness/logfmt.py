"""Reads logfmt lines as any log reader would: key=value, quoted values with \\", \\\\, \\n, \\r, \\t, \\xHH."""

import re

_PAIR = re.compile(rb'([A-Za-z_][A-Za-z0-9_.]*)=("(?:[^"\\\x00-\x1f\x7f]|\\.)*"|[^ "=\\\x00-\x1f\x7f]*)(?: |$)')
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)")
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _unescape(match):
    what = match.group(1)
    if what[:1] == b"x" and len(what) == 3:
        return bytes([int(what[1:], 16)])
    return _SIMPLE.get(what, what)


def parse_bytes(line):
    """One line to {key: value as bytes}; ValueError where it is no logfmt."""
    pairs, at = {}, 0
    while at < len(line):
        match = _PAIR.match(line, at)
        if not match:
            raise ValueError(f"no logfmt at byte {at} of {line!r}")
        value = match.group(2)
        if value.startswith(b'"'):
            value = _ESCAPE.sub(_unescape, value[1:-1])
        key = match.group(1).decode()
        if key in pairs:
            raise ValueError(f"{key} twice in {line!r}")
        pairs[key] = value
        at = match.end()
    return pairs


def parse(line):
    """The same with text values; bytes that are no UTF-8 become surrogates."""
    return {k: v.decode("utf-8", "surrogateescape") for k, v in parse_bytes(line).items()}
