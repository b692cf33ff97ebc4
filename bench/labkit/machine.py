"""What a figure was measured on and with: the provenance that stands beside each result."""

import hashlib
import os
import platform
import re
import subprocess
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def _read(path):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _first_match(pattern, text, default=""):
    match = re.search(pattern, text, re.MULTILINE)
    return match[1].strip() if match else default


def _output(argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL)
        return (done.stdout + done.stderr).strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def commit():
    """Of the tree the lab stands in; a plus sign where something in it is not committed."""
    head = _output(["git", "-C", str(TREE), "rev-parse", "--short=12", "HEAD"])
    if not re.fullmatch(r"[0-9a-f]+", head):
        return "unknown"
    dirty = _output(["git", "-C", str(TREE), "status", "--porcelain", "--untracked-files=no"])
    return head + ("+" if dirty else "")


def describe():
    """The machine. No names of it, so that results can be passed on."""
    cpuinfo, meminfo = _read("/proc/cpuinfo"), _read("/proc/meminfo")
    virtual = "hypervisor" in _first_match(r"^flags\s*:(.*)$", cpuinfo).split()
    return {
        "cpu": _first_match(r"^model name\s*:(.*)$", cpuinfo, platform.processor() or platform.machine()),
        "cpus": os.cpu_count(),
        "virtual": virtual,
        "memory_mb": int(_first_match(r"^MemTotal:\s*(\d+)", meminfo, "0")) // 1024,
        "kernel": platform.release(),
        "system": _first_match(r'^PRETTY_NAME="?([^"\n]*)', _read("/etc/os-release"), "Linux"),
        "architecture": platform.machine(),
        "clock": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "kernel_tls": Path("/proc/net/tls_stat").exists(),
    }


def sha256(path):
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def tool_versions():
    wanted = {
        "wrk": (["wrk", "-v"], r"wrk (\S+)"), "iperf3": (["iperf3", "--version"], r"iperf (\S+)"),
        "openssl": (["openssl", "version"], r"OpenSSL (\S+)"), "iproute2": (["ip", "-V"], r"iproute2-([\d.]+)"),
    }
    return {name: _first_match(pattern, _output(argv), "absent") for name, (argv, pattern) in wanted.items()}


def peers(chosen):
    """{'nginx': {'version': ..., 'binary_sha256': ...}}"""
    return {peer.name: {"kind": peer.kind, "version": peer.version(), "options": list(peer.chosen),
                        "binary_sha256": sha256(peer.binary), "splices": peer.splices} for peer in chosen}


def without_places(word):
    """Where things lie on this machine is nobody's business: '3proxy:/home/me/3proxy' -> '3proxy:.../3proxy'"""
    return re.sub(r"(?:(?<=[:=])|^)/[^:]*/(?=[^/:]+)", ".../", word)


def now():
    return time.strftime("%Y-%m-%d %H:%M:%S %z")
