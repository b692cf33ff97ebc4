"""Which runs count: the reasons why one must not enter a median."""

LAG_LIMIT_MS = 1.0          # an open-loop client later than this measured itself
RESUMED_SHARE_LIMIT = 0.9   # of handshakes that were to be resumed: fewer, and full ones are what was measured
ERROR_SHARE_LIMIT = 0.01    # a proxy that fails more than this is not comparable with one that works
RESET_SHARE_LIMIT = 0.2     # broken before the first byte of an answer: any client asks again, which only costs time
DISTURBED_NOTED = 0.03      # of the proxy's CPUs, taken by others: told, for the reader to judge
CLIENT_LATE = "the client was late"
DISTURBED = "others were busy"


def judge(load, failure="", proxy_died=False):
    """Why a run must not count, or ''. The first reason is the one that matters."""
    if failure:
        return f"no run: {failure}"
    if proxy_died:
        return "the proxy died"
    if load.failure:
        return f"no result: {load.failure}"
    if load.wrong:
        return f"{load.wrong} wrong answers"
    connects, resumed = load.raw.get("connects") or 0, load.raw.get("resumed") or 0
    if "--tls-resume" in load.argv and resumed < RESUMED_SHARE_LIMIT * connects:
        return f"{resumed} of {connects} handshakes were resumed"
    said = contradiction(load)
    if said:
        return said
    done = load.raw.get("requests") or 0
    if load.errors - load.resets > ERROR_SHARE_LIMIT * max(done, 1) or load.resets > RESET_SHARE_LIMIT * max(done, 1):
        return f"{load.errors} of {int(done + load.errors)} exchanges failed"
    if load.lag_p99_ms > LAG_LIMIT_MS:
        return f"{CLIENT_LATE}: {load.lag_p99_ms:.3g} ms at the 99th percentile"
    return ""


def contradiction(load):
    """A client that moved nothing, or whose rate is not its bytes over its time, is not believed."""
    moved = load.raw.get("bytes")
    if moved is None or load.raw.get("scenario") == "idle":
        return ""
    if not moved and not load.raw.get("requests"):
        return "nothing came through"
    # Uploads are counted by what the sink reports ten times a second, so their time is not quite the client's.
    told, counted = load.gbit * load.seconds, moved * 8 / 1e9
    if abs(counted - told) > (0.05 + 0.2 / max(load.seconds, 0.2)) * counted:
        return f"the client contradicts itself: {moved} bytes in {load.seconds:g} s, {load.gbit:g} Gbit/s"
    return ""


def disturbance(share, tolerated):
    return f"{DISTURBED}: they took {share:.0%} of the proxy's CPUs" if share > tolerated else ""


def by_chance(mark):
    """Reasons that lie in the machine and not in the proxy, so that a second try is fair."""
    return mark.startswith((CLIENT_LATE, DISTURBED))
