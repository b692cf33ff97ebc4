"""wrk, iperf3 and proxychains4 in the client's place: the tools people know, to see that ours agrees with them.

They have no warm-up and no content check; the origin of wrk is headrace-load's, iperf3 brings its own.
"""

import json
import re
import subprocess
from pathlib import Path

from .clients import SETTLE_S, Load

WRK_SCRIPT = """
wrk.method = "{method}"
wrk.path = "{path}"
wrk.headers["Host"] = "{host}"
{extra}
function done(summary, latency, requests)
  local e = summary.errors
  io.stderr:write(string.format(
    'RESULT {{"seconds":%.6f,"requests":%d,"errors":%d,"timeouts":%d,"status":%d,' ..
    '"p50":%.3f,"p90":%.3f,"p99":%.3f}}\\n',
    summary.duration / 1e6, summary.requests, e.connect + e.read + e.write, e.timeout, e.status,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3))
end
"""

PROXYCHAINS = """strict_chain
tcp_read_time_out 15000
tcp_connect_time_out 8000
[ProxyList]
{kind} {host} {port}
"""


class WrkClient:
    """wrk for requests, iperf3 for streams. Neither has a warm-up of its own; their whole run is sampled."""

    def __init__(self, load_path, seconds, scratch, cpu_count):
        self.load_path, self.seconds, self.scratch, self.cpu_count = load_path, seconds, Path(scratch), cpu_count

    @staticmethod
    def can(scenario):
        return scenario.kind == "request" or (scenario.kind == "stream" and not scenario.family.startswith("tls"))

    def argv(self, scenario, target):
        if scenario.kind == "stream":
            argv = self._iperf3(scenario, target)
        else:
            argv = self._wrk(scenario, target)
        if target.mode in ("connect", "socks5"):
            kind = {"connect": "http", "socks5": "socks5"}[target.mode]
            path = self.scratch / "proxychains.conf"
            path.write_text(PROXYCHAINS.format(kind=kind, host=target.connect.host, port=target.connect.port))
            argv = ["proxychains4", "-q", "-f", path, *argv]
        return [str(word) for word in argv]

    def _aim(self, target):
        """Through a tunnel the tool names the origin, and proxychains4 takes it there."""
        return target.origin if target.mode in ("connect", "socks5") else target.connect

    def _iperf3(self, scenario, target):
        aim = self._aim(target)
        argv = ["iperf3", "-c", aim.host, "-p", aim.port, "-t", self.seconds, "-P", scenario.connections, "-J"]
        return argv + (["-R"] if scenario.down else [])

    def _wrk(self, scenario, target):
        path = f"/b/{scenario.answer_bytes}"
        extra = []
        if target.mode == "http":
            path = f"http://{target.origin}{path}"
        if scenario.requests_per_connection == 1:
            extra.append('wrk.headers["Connection"] = "close"')
        if scenario.body_bytes:
            body = subprocess.run([self.load_path, "pattern", str(scenario.body_bytes)], capture_output=True,
                                  check=True).stdout
            extra.append('wrk.body = "' + "".join(f"\\{byte:03d}" for byte in body) + '"')
        script = self.scratch / "wrk.lua"
        script.write_text(WRK_SCRIPT.format(method="POST" if scenario.body_bytes else "GET", path=path,
                                            host=target.origin, extra="\n".join(extra)))
        # proxychains4 blocks a thread for each connect, so tunnels get more of them.
        threads = 16 if target.mode in ("connect", "socks5") else max(self.cpu_count, 1)
        scheme = "https" if target.tls else "http"
        return ["wrk", "-t", min(threads, scenario.connections), "-c", scenario.connections,
                "-d", f"{max(round(self.seconds), 1)}s", "--timeout", "10s", "-s", script,
                f"{scheme}://{self._aim(target)}/"]

    def run(self, run_sides, scenario, target, limit, seed, on_event):
        argv = self.argv(scenario, target)
        process = run_sides.start("cli", argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        on_event("start", process.pid)
        on_event("measuring", process.pid)
        # The last sample must be taken while the namespaces' processes still are: a moment before the end.
        try:
            process.wait(timeout=max(self.seconds - 0.05, 0.1))
        except subprocess.TimeoutExpired:
            pass
        on_event("measured", process.pid)
        try:
            out, err = process.communicate(timeout=SETTLE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
        load = self._parse_iperf3(out) if scenario.kind == "stream" else self._parse_wrk(err, scenario)
        load.argv = argv
        if not load.raw:
            load.failure = (err or out).strip()[-300:] or "the client gave no result"
        return load

    @staticmethod
    def _parse_wrk(err, scenario):
        match = re.search(r"RESULT (\{.*\})", err)
        if not match:
            return Load()
        raw = json.loads(match[1])
        rate = raw["requests"] / raw["seconds"]
        return Load(seconds=raw["seconds"], gbit=rate * (scenario.answer_bytes + scenario.body_bytes) * 8 / 1e9,
                    rate=rate, p50_ms=raw["p50"], p90_ms=raw["p90"], p99_ms=raw["p99"], errors=raw["errors"],
                    timeouts=raw["timeouts"], wrong=raw["status"], raw=raw)

    @staticmethod
    def _parse_iperf3(out):
        try:
            end = json.loads(out)["end"]
            received = end["sum_received"]
        except (ValueError, KeyError):
            return Load()
        return Load(seconds=received["seconds"], gbit=received["bits_per_second"] / 1e9, raw=received)
