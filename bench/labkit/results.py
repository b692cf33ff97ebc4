"""The CSV: one row per run, columns and their order fixed; and what a row cannot say, beside it.

A results directory holds results.csv, runs.jsonl (each run in full: command lines, the client's own result,
marks), provenance.json (machine, versions, options, commit) and configs/. Any of it but the CSV may be absent:
a CSV of somebody else is read just as well.
"""

import csv
import json
import math
from dataclasses import dataclass, fields
from pathlib import Path

from .errors import LabError

NAN = math.nan


@dataclass
class Run:
    """One row. The order of the fields is the order of the columns."""

    proxy: str
    scenario: str
    rep: int
    gbit: float = NAN
    rate: float = NAN
    p50_ms: float = NAN
    p90_ms: float = NAN
    p99_ms: float = NAN
    errors: float = 0
    timeouts: float = 0
    retrans: float = 0
    prx_cpu_s: float = NAN
    prx_task_s: float = NAN
    cpu_s_per_gb: float = NAN
    cpu_us_per_req: float = NAN
    peak_mb: float = NAN
    cli_util: float = NAN
    prx_util: float = NAN
    srv_util: float = NAN
    cli_thread: float = NAN
    srv_thread: float = NAN
    bound: str = "none"


COLUMNS = tuple(f.name for f in fields(Run))
_TEXT = {"proxy", "scenario", "bound"}

# What a run that counts for nothing must not show in the CSV, lest somebody else's median takes it in.
MEASURED = ("gbit", "rate", "p50_ms", "p90_ms", "p99_ms", "cpu_s_per_gb", "cpu_us_per_req", "peak_mb")


def _number(text):
    return float(text) if text.strip() else NAN


def read_csv(path):
    """-> [Run]"""
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        missing = [c for c in COLUMNS if c not in (reader.fieldnames or [])]
        if missing:
            raise LabError(f"{path}: no column {', '.join(missing)}")
        runs = []
        for row in reader:
            try:
                values = {c: row[c] if c in _TEXT else _number(row[c] or "") for c in COLUMNS}
                values["rep"] = int(values["rep"])
            except (TypeError, ValueError) as error:
                raise LabError(f"{path}:{reader.line_num}: {error}") from None
            runs.append(Run(**values))
        return runs


def _cell(value):
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def write_header(file):
    csv.writer(file, lineterminator="\n").writerow(COLUMNS)


def write_row(file, run):
    csv.writer(file, lineterminator="\n").writerow([_cell(getattr(run, c)) for c in COLUMNS])


class Store:
    """A results directory that a lab writes: each run is on the disk as soon as it is over."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.csv = self.directory / "results.csv"
        self.log = self.directory / "runs.jsonl"

    def open(self, resume=False):
        """-> the runs that are there already"""
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.csv.exists():
            if not resume:
                raise LabError(f"{self.csv} exists; --resume adds what is missing there, or take another --out")
            return read_csv(self.csv)
        with open(self.csv, "w", newline="") as file:
            write_header(file)
        return []

    def add(self, run, details):
        with open(self.csv, "a", newline="") as file:
            write_row(file, run)
        with open(self.log, "a") as file:
            file.write(json.dumps({"proxy": run.proxy, "scenario": run.scenario, "rep": run.rep, **details}) + "\n")

    def write_provenance(self, provenance):
        (self.directory / "provenance.json").write_text(json.dumps(provenance, indent=2) + "\n")

    def write_config(self, name, text):
        directory = self.directory / "configs"
        directory.mkdir(exist_ok=True)
        (directory / name).write_text(text)


@dataclass
class Session:
    """What was measured on one machine in one sitting: runs, and what is known about them."""

    label: str
    runs: list
    details: dict       # (proxy, scenario, rep) -> the line of runs.jsonl
    provenance: dict
    named: bool = False     # the label is the reader's, not just where the results lay

    def mark(self, run):
        """Why the run is left out of the medians; empty when it counts."""
        return self.details.get((run.proxy, run.scenario, run.rep), {}).get("mark", "")


def read_session(path, label=""):
    """From a results directory or from a CSV file alone."""
    path = Path(path)
    if not path.exists():
        raise LabError(f"{path} does not exist")
    if path.is_file():
        return Session(label or path.stem, read_csv(path), {}, {}, bool(label))
    files = [path / "results.csv"] if (path / "results.csv").exists() else sorted(path.glob("*.csv"))
    if not files:
        raise LabError(f"{path} holds no CSV")
    runs = [run for file in files for run in read_csv(file)]
    details, provenance = {}, {}
    if (path / "runs.jsonl").exists():
        for line in (path / "runs.jsonl").read_text().splitlines():
            entry = json.loads(line)
            details[entry["proxy"], entry["scenario"], entry["rep"]] = entry
    if (path / "provenance.json").exists():
        provenance = json.loads((path / "provenance.json").read_text())
    return Session(label or path.name, runs, details, provenance, bool(label))
