"""`lab report`: the tables of one or more sessions in Markdown, and as one self-contained HTML page."""

import sys
from dataclasses import dataclass
from pathlib import Path

from . import forms, html, layouts
from .errors import LabError
from .lost import Lost, find_lost
from .results import Session, read_session
from .stats import Runs
from .tables import LEFT_OUT, LIMITED

LEGEND = f"""Each cell is the median over the repetitions. Proxies that copy through user space come first, behind ‖
those that splice. **Bold** is the best of its group, and any other of the group whose runs cannot be told apart
from it: its best run reaches the best one's worst. \\* marks the best of the row over the groups by the same rule;
tables of throughput with a single proxy in one group mark only the best of the row. {LIMITED}: in most runs client
or origin set the pace; the proxy can then do at least that much. {LEFT_OUT}: runs were left out, the reasons stand
below."""
METHOD = (
    "* Client, proxy and origin each have a network namespace and CPUs of their own, joined by veth; every run has a "
    "fresh setting, and the order of the proxies turns by one with each repetition.",
    "* CPU is all that the proxy's CPUs did besides idling: its processes, and the interrupts and softirqs of its "
    "traffic. Memory is the peak of its control group. Throughput and latency are the client's, payload only, every "
    "answer checked.",
    "* Closed loops offer a slower proxy less, so that latencies compare at similar throughput only; open loops "
    "(`-3k`, `rate`, `message`) count from when an exchange was due. All of the method: `bench/README.md`.",
)


@dataclass
class Part:
    """What the report says of one session."""

    session: Session
    runs: Runs
    columns: list
    sections: list          # [(heading, [Table])]
    provenance: list        # lines
    notes: list             # lines
    lost: Lost = None


def add_arguments(parser):
    parser.add_argument("sources", nargs="+", metavar="[LABEL=]DIR|CSV",
                        help="results; those of one label are put together, each label has tables of its own")
    parser.add_argument("--html", metavar="FILE", help="also write the page with tables and pictures")
    parser.add_argument("--out", metavar="FILE", help="the Markdown, instead of to standard output")
    parser.add_argument("--layout", choices=("auto", "plain", *forms.FORMS, "machines"), default="auto",
                        help="auto: link for sessions over an emulated link, else plain")
    parser.add_argument("--column", action="append", default=[], metavar="NAME[=LABEL]",
                        help="only these proxies, in this order, under these labels (repeatable)")
    parser.add_argument("--splicing", action="append", default=[], metavar="NAME", help="belongs to that group")
    parser.add_argument("--copying", action="append", default=[], metavar="NAME", help="belongs to that group")
    parser.add_argument("--scenario", action="append", default=[], metavar="NAME", help="only these, in this order (repeatable)")
    parser.add_argument("--title", default="Benchmark results")


def read_sources(words):
    """'ARM=dir' or 'dir' -> sessions, those of one label merged"""
    merged = {}
    for word in words:
        label, path = word.split("=", 1) if "=" in word and not Path(word).exists() else ("", word)
        session = read_session(path, label)
        into = merged.setdefault(session.label, session)
        if into is not session:
            merged[session.label] = _merge(into, session)
    return list(merged.values())


def _merge(a, b):
    """Two sittings on one machine; what both measured counts as further repetitions."""
    shift = 1 + max((run.rep for run in a.runs), default=-1)
    for run in b.runs:
        run.rep += shift
    details = {(p, s, rep + shift): entry for (p, s, rep), entry in b.details.items()}
    provenance = dict(a.provenance or b.provenance)
    if a.provenance and b.provenance:
        provenance["sittings"] = a.provenance.get("sittings", [a.provenance]) + [b.provenance]
    if "peers" in provenance:
        provenance["peers"] = {**b.provenance.get("peers", {}), **a.provenance.get("peers", {})}
    return Session(a.label, a.runs + b.runs, {**a.details, **details}, provenance, a.named)


def part_of(session, arguments):
    """-> Part, in the layout asked for"""
    kind = arguments.layout
    if kind == "auto":
        emulated = session.provenance.get("setting", {}).get("link", "none") != "none"
        kind = "link" if emulated else "plain"
    layout = _layout(session, arguments)
    sections = layout.plain() if kind == "plain" else forms.FORMS[kind](layout)
    return _part(session, layout, sections, find_lost(layout.runs, layout.columns) if kind == "plain" else None)


def part_of_machines(sessions, arguments):
    """-> Part, of all sessions together"""
    average = forms.averaged(sessions)
    layout = _layout(average, arguments)
    return _part(average, layout, forms.machines(sessions, layout))


def _layout(session, arguments):
    if arguments.scenario:
        session.runs = [run for run in session.runs if run.scenario in arguments.scenario]
    runs = Runs(session, arguments.scenario)
    wanted = [_column(word, runs) for word in arguments.column]
    columns = layouts.make_columns(runs, wanted, arguments.splicing, arguments.copying)
    return layouts.Layout(runs, columns, session.label if session.named else "")


def _part(session, layout, sections, lost=None):
    if not any(tables for _, tables in sections):
        raise LabError(f"{session.label}: nothing to show")
    return Part(session, layout.runs, layout.columns, sections, provenance_lines(session),
                notes(session, layout.runs), lost)


def _column(word, runs):
    """'NAME=LABEL' -> both. A name may itself hold an equals sign (headrace-splice=never)."""
    known = [name for name in runs.proxies if word == name or word.startswith(name + "=")]
    name = max(known, key=len, default="")
    if not name:
        raise LabError(f"--column {word}: no such proxy in {runs.session.label}; there are {', '.join(runs.proxies)}")
    return name, word[len(name) + 1:] or name


def command_shown(sitting):
    """How it was called, but for where the results went."""
    words = list(sitting.get("options", {}).get("command", []))
    if "--out" in words:
        at = words.index("--out")
        del words[at:at + 2]
    return " ".join(word if " " not in word else f'"{word}"' for word in words)


def provenance_lines(session):
    """What the figures were measured on and with."""
    known = session.provenance
    if "machine" not in known:
        return []
    machine, setting, options = known.get("machine", {}), known.get("setting", {}), known.get("options", {})
    virtual = ", virtual" if machine.get("virtual") else ""
    sysctls = setting.get("sysctls", {})
    lines = [
        f"* {machine.get('cpu')}, {machine.get('cpus')} CPUs{virtual}, {machine.get('memory_mb', 0) / 1024:.0f} GB; "
        f"{machine.get('system')}, Linux {machine.get('kernel')}, {machine.get('architecture')}",
        *(f"* {sitting['started']}, commit {sitting['commit']}; `lab {command_shown(sitting)}`"
          for sitting in known.get("sittings", [known])),
        f"* CPUs {setting.get('cpus')}; {setting.get('groups')}; MTU {setting.get('mtu')}, "
        f"{sysctls.get('net/ipv4/tcp_congestion_control', 'congestion control of the kernel')}; "
        f"{options.get('seconds'):g} s per run after {options.get('warmup'):g} s; client {setting.get('client')}; "
        f"{setting.get('descriptors')} descriptors per process, mixes hold {setting.get('mix_connections')} "
        f"connections" + (f"; proxy's quota {setting['quota']:.0%} of a CPU" if setting.get("quota") else ""),
    ]
    if setting.get("link", "none") != "none":
        lines.append(f"* link of the client: {setting['link']} ({setting.get('link_method')})")
    versions = [f"{name} {peer['version']}".strip() for name, peer in known.get("peers", {}).items()]
    return lines + [f"* {', '.join(versions)}", *METHOD]


def notes(session, runs):
    """Runs that do not count, and runs that others disturbed: every one of them by name."""
    lines = []
    for (proxy, scenario), left_out in runs.left_out.items():
        all_runs = len(left_out) + len(runs.counted.get((proxy, scenario), []))
        reasons = "; ".join(f"rep {run.rep}: {session.mark(run)}" for run in left_out)
        lines.append(f"* {LEFT_OUT} {proxy} {scenario}: {len(left_out)} of {all_runs} left out ({reasons})")
    for (proxy, scenario), counted in runs.counted.items():
        errors, timeouts = (sum(getattr(run, figure) for run in counted if getattr(run, figure) > 0)
                            for figure in ("errors", "timeouts"))
        if errors or timeouts:
            lines.append(f"* {proxy} {scenario}: {errors:,.0f} exchanges failed and {timeouts:,.0f} took over the "
                         f"client's limit in {len(counted)} runs")
    disturbed = [(key, entry["disturbed"]) for key, entry in session.details.items() if entry.get("disturbed")]
    if disturbed:
        worst = max(share for _, share in disturbed)
        lines.append(f"* {len(disturbed)} of {len(session.runs)} runs had other processes or the hypervisor take "
                     f"more than 3% of the proxy's CPUs, {worst:.0%} at most; they count.")
    return lines


def markdown(title, parts):
    """parts: [Part]"""
    deep = "###" if len(parts) > 1 else "##"
    out = [f"# {title}", "", LEGEND, ""]
    for part in parts:
        if len(parts) > 1:
            out += [f"## {part.session.label}", ""]
        out += [*part.provenance, ""]
        if part.lost:
            out += [f"{deep} Where a peer is first", "", part.lost.summary, ""]
            out += [part.lost.table.markdown(), ""] if part.lost.table.rows else []
        for heading, tables in part.sections:
            out += [f"{deep} {heading}", ""]
            for table in tables:
                out += [f"**{table.title}**", "", table.markdown(), ""]
        if part.notes:
            out += [f"{deep} Runs with a remark", "", *part.notes, ""]
    return "\n".join(out).rstrip() + "\n"


def main(arguments):
    sessions = read_sources(arguments.sources)
    if arguments.layout == "machines":
        parts = [part_of_machines(sessions, arguments)]
    else:
        parts = [part_of(session, arguments) for session in sessions]
    text = markdown(arguments.title, parts)
    if arguments.out:
        Path(arguments.out).write_text(text)
    else:
        sys.stdout.write(text)
    if arguments.html:
        Path(arguments.html).write_text(html.page(arguments.title, LEGEND, parts))
    return 0
