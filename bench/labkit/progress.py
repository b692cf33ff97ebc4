"""What is shown while the lab measures: a line per run, with the time left."""

import math
import shutil
import statistics


class Progress:
    """A line with the time left: rewritten in place on a terminal, one line per run elsewhere."""

    def __init__(self, plan, seconds_per_run, stream):
        self.total, self.guess_s, self.stream = len(plan), seconds_per_run, stream
        self.took_s = []
        self.live = stream.isatty()
        self.done = 0

    def left_s(self):
        per_run = statistics.mean(self.took_s) if self.took_s else self.guess_s
        return per_run * (self.total - self.done)

    def begin(self, item):
        text = f"[{self.done + 1:{len(str(self.total))}}/{self.total}] {item.peer.name} {item.scenario.name} " \
               f"rep {item.rep}"
        self._head = text
        if self.live:
            self._show(f"{text} ... {clock(self.left_s())} left", end="")

    def finish(self, run, mark, took_s):
        self.done += 1
        self.took_s.append(took_s)
        self._show(f"{self._head}: {mark or figures(run)} - {clock(self.left_s())} left", end="\n")

    def _show(self, text, end):
        if self.live:
            width = shutil.get_terminal_size().columns
            self.stream.write("\r\033[K" + (text[:width - 1] if end == "" else text) + end)
        else:
            self.stream.write(text + end)
        self.stream.flush()


def clock(seconds):
    minutes, seconds = divmod(int(round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"


def figures(run):
    """The few that tell whether a run is sound."""
    parts = []
    if not math.isnan(run.rate):
        parts.append(f"{run.rate:,.0f}/s, {run.cpu_us_per_req:.1f} us, p99 {run.p99_ms:.3g} ms")
    elif not math.isnan(run.gbit):
        speed = f"{run.gbit:.2f} Gbit/s" if run.gbit >= 1 else f"{run.gbit * 1000:.1f} Mbit/s"
        parts.append(f"{speed}, {run.cpu_s_per_gb:.3f} s/GB")
    if run.peak_mb == run.peak_mb:
        parts.append(f"{run.peak_mb:.1f} MB")
    parts.append(f"bound {run.bound}")
    return ", ".join(parts)
