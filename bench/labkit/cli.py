"""The commands: run, list, report, compare, clean."""

import argparse
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import (build, compare, cpus, judge, link, machine, network, progress, recipe, report, runner, scenario,
               session, sides, wrk)
from .errors import LabError
from .results import Store

QUICK = {"seconds": 1.5, "reps": 3, "warmup": 0.5, "scenarios": ["quick"]}
DEFAULT_PEERS = ("headrace", "nginx", "haproxy", "haproxy:splice", "haproxy:splice-forced", "squid", "tinyproxy",
                 "dante", "microsocks", "stunnel", "hitch")
QUICK_PEERS = ("headrace", "nginx", "haproxy", "haproxy:splice", "squid", "tinyproxy", "dante", "microsocks",
               "stunnel", "hitch")
SET_UP_S = 0.3              # of a run beyond its load; only the first guess, measured from then on


def parser():
    top = argparse.ArgumentParser(prog="lab", description="headrace and its peers, measured side by side")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="measure", formatter_class=argparse.RawDescriptionHelpFormatter,
                              epilog="`lab list` shows proxies, scenarios and sets of scenarios.")
    run.add_argument("--out", required=True, metavar="DIR", help="where results go; must hold none, but for --resume")
    run.add_argument("--proxies", nargs="+", metavar="NAME[:PATH][:OPTION...]",
                     help="default: headrace and all peers that are installed")
    run.add_argument("--scenarios", nargs="+", metavar="NAME", help="names, sets or patterns (default: plain)")
    run.add_argument("--reps", type=int, help="repetitions of each (default 3)")
    run.add_argument("--seconds", type=float, help="measured time of a run (default 10)")
    run.add_argument("--warmup", type=float, help="time before it (default 1; with 1000 connections or more never under 2)")
    run.add_argument("--quick", action="store_true", help="a cross-section in under six minutes")
    run.add_argument("--cpus", metavar="cli=LIST,prx=LIST,srv=LIST", help="CPUs of each side")
    run.add_argument("--link", default="", metavar="WORDS", help='the client\'s link, e.g. "delay 5ms loss 0.5%%"')
    run.add_argument("--flow-rate", default="", metavar="RATE", help="of each connection on it, e.g. 20mbit")
    run.add_argument("--quota", metavar="PERCENT", help="CPU the proxy may use of one CPU, e.g. 30%%")
    run.add_argument("--connections", type=int, default=0, metavar="N", help="of the mixes, if fewer than possible")
    run.add_argument("--tolerate", type=float, default=10.0, metavar="PERCENT",
                     help="of the proxy's CPUs that other processes may take of a run that counts (default 10)")
    run.add_argument("--peers", metavar="DIR", help="recipes of yours beside those of bench/peers")
    run.add_argument("--client", choices=("load", "wrk"), default="load",
                     help="headrace-load, or wrk, iperf3 and proxychains4 (default load)")
    run.add_argument("--load", default="", metavar="PATH", help="headrace-load, if not the tree's")
    run.add_argument("--link-program", default="", metavar="PATH", help="headrace-link, if not the tree's")
    run.add_argument("--resume", action="store_true", help="measure only what DIR has not yet")
    run.add_argument("--install", action="store_true", help="install missing peers without asking")
    run.set_defaults(do=do_run)

    lister = commands.add_parser("list", help="proxies, scenarios, and what this machine allows")
    lister.set_defaults(do=do_list)

    reporter = commands.add_parser("report", help="tables in Markdown, and one HTML page with pictures")
    report.add_arguments(reporter)
    reporter.set_defaults(do=report.main)

    comparer = commands.add_parser("compare", help="before and after")
    compare.add_arguments(comparer)
    comparer.set_defaults(do=compare.main)

    cleaner = commands.add_parser("clean", help="take away what a crashed lab left behind")
    cleaner.set_defaults(do=do_clean)
    for command in (run, cleaner):
        command.add_argument("--tag", default=session.DEFAULT_TAG, help="name of what the lab makes (default hrlab)")
    return top


def main(argv=None):
    arguments = parser().parse_args(argv)
    try:
        return arguments.do(arguments) or 0
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1


def do_list(arguments):
    kinds = recipe.load_kinds()
    print("Proxies (NAME[:PATH][:OPTION...]):")
    for name, kind in kinds.items():
        peer = kind(name)
        state = peer.version() or "-" if peer.installed else \
            f"missing, package {kind.package}" if kind.package else "needs a path"
        print(f"  {name:18} {state:24} {', '.join(f for f in kind.families)}")
        for option, what in kind.options.items():
            print(f"  {'':18}   :{option}  {what}")
    print("\nSets of scenarios:")
    for name, names in scenario.SETS.items():
        print(f"  {name:10} {len(names)} scenarios")
    print("\nScenarios (others of the same grammar can be run, too; see bench/README.md):")
    for name in scenario.STANDARD:
        print(f"  {name}")
    groups = session.Session().groups
    limit = sides.descriptor_limit()
    print(f"\nThis machine: {groups.note}; CPUs {cpus.default_placement()}; {limit} descriptors per process, "
          f"so mixes of {min(scenario.MIX_CONNECTIONS, sides.connection_limit(limit))} connections")
    return 0


def do_clean(arguments):
    own = session.Session(arguments.tag)
    own.take_lock(wait_s=0)
    found = own.clean()
    print("\n".join(found) if found else f"nothing was left of {arguments.tag}")
    return 0


def do_run(arguments):
    for name, value in QUICK.items() if arguments.quick else ():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    seconds = arguments.seconds if arguments.seconds is not None else 10.0
    reps = arguments.reps or 3
    if seconds <= 0:
        raise LabError("--seconds: more than none")
    scenarios = scenario.select(recipe.split_words(arguments.scenarios or ["plain"]))
    if arguments.client == "wrk":
        refused = [s.name for s in scenarios if not wrk.WrkClient.can(s)]
        if refused:
            raise LabError(f"wrk and iperf3 cannot do {', '.join(refused)}")
        absent = [tool for tool in ("wrk", "iperf3", "proxychains4") if not shutil.which(tool)]
        if absent:
            raise LabError(f"not here: apt-get install {' '.join(absent)}")
    peers = _peers(arguments, scenarios)
    options = runner.Options(
        placement=cpus.parse_placement(arguments.cpus) if arguments.cpus else cpus.default_placement(),
        seconds=seconds, warmup=arguments.warmup if arguments.warmup is not None else 1.0,
        client=arguments.client, load_path=build.find_bench_program("headrace-load", arguments.load),
        client_link=link.LinkSpec(arguments.link.strip(), arguments.flow_rate.strip()), quota=_quota(arguments.quota),
        connections=arguments.connections, tolerated=arguments.tolerate / 100)
    plan = runner.build_plan(scenarios, peers, reps)
    if not plan:
        raise LabError("none of these proxies can do any of these scenarios")
    return _measure(arguments, options, peers, plan)


def _measure(arguments, options, peers, plan):
    store = Store(arguments.out)
    done = {(run.proxy, run.scenario, run.rep) for run in store.open(arguments.resume)}
    plan = [item for item in plan if (item.peer.name, item.scenario.name, item.rep) not in done]
    own = session.Session(arguments.tag)
    own.open()
    signal.signal(signal.SIGTERM, signal.default_int_handler)       # ends as Ctrl-C does
    measured, interrupted = 0, False
    try:
        lab = runner.Runner(own, options, store)
        if lab.link_method == "headrace-link":
            options.link_path = build.find_bench_program("headrace-link", arguments.link_program)
        runner.make_way(options.placement)
        store.write_provenance(_provenance(arguments, own, lab, peers, store))
        for note in _notes(own, options):
            print(f"note: {note}", file=sys.stderr)
        told = progress.Progress(plan, options.seconds + options.warmup + SET_UP_S, sys.stderr)
        for item in plan:
            told.begin(item)
            began = time.monotonic()
            run, details = lab.run(item)
            if judge.by_chance(details.get("mark", "")):
                first, (run, details) = details["mark"], lab.run(item)
                details["first_try"] = first
            store.add(run, details)
            told.finish(run, details.get("mark", ""), time.monotonic() - began)
            measured += 1
    except KeyboardInterrupt:
        interrupted = True
    finally:
        own.close()
    print(f"\n{measured} of {len(plan)} runs in {store.csv}; `lab report {arguments.out}` makes the tables",
          file=sys.stderr)
    return 130 if interrupted else 0


def _peers(arguments, scenarios):
    """The proxies to measure: those asked for, which must all be here, or whichever of the default ones are."""
    kinds = recipe.load_kinds()
    if arguments.peers:
        kinds.update(recipe.load_kinds(arguments.peers))
    words = recipe.split_words(arguments.proxies or (QUICK_PEERS if arguments.quick else DEFAULT_PEERS))
    families = {one.family for one in scenarios}

    def resolve():
        peers = [recipe.parse_peer(word, kinds) for word in words]
        return [p for p in peers if not families.isdisjoint(p.families)]

    peers = resolve()
    of_the_tree = {"headrace": build.headrace, "reference": build.reference}
    for kind in {p.kind for p in peers if not p.installed} & of_the_tree.keys():
        of_the_tree[kind]()
        peers = resolve()
    missing = [p for p in peers if not p.installed]
    if missing and _install(missing, arguments):
        peers = resolve()
        missing = [p for p in peers if not p.installed]
    for peer in missing:
        why = f"{peer.kind} is not here: " + (f"package {peer.package}" if peer.package else "give its path")
        if arguments.proxies:
            raise LabError(why)
        print(f"note: left out, {why}", file=sys.stderr)
    peers = [p for p in peers if p.installed]
    _check(peers)
    return peers


def _check(peers):
    names = [p.name for p in peers]
    for peer in peers:
        if peer.problem():
            raise LabError(f"{peer.name}: {peer.problem()}")
        if names.count(peer.name) > 1:
            raise LabError(f"two proxies are called {peer.name}: tell them apart by label=...")


def _install(missing, arguments):
    """Offers the packages by name; never installs unasked."""
    packages = sorted({word for peer in missing for word in peer.package.split()})
    if not packages:
        return False
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if not arguments.install:
        if not (sys.stdin.isatty() and shutil.which("apt-get")):
            print(f"note: missing peers: {' '.join(command)}, or run again with --install", file=sys.stderr)
            return False
        if input(f"Missing: {', '.join(p.kind for p in missing)}. Run `{' '.join(command)}`? [y/N] ").lower() != "y":
            return False
    print(f"note: {' '.join(command)}", file=sys.stderr)
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        raise LabError("apt-get failed")
    _stop_services(packages)
    return True


def _stop_services(packages):
    """Debian starts what it installs; a second squid on the machine would disturb every run."""
    if Path("/run/systemd/system").is_dir():
        for package in packages:
            subprocess.run(["systemctl", "disable", "--now", package.replace("dante-server", "danted")],
                           capture_output=True)


def _quota(text):
    if not text:
        return 0.0
    try:
        part = float(text.rstrip("%")) / 100
    except ValueError:
        part = 0.0
    if part <= 0:
        raise LabError(f"--quota {text!r}: a percentage of one CPU, e.g. 30%")
    return part


def _provenance(arguments, own, lab, peers, store):
    options = lab.options
    return {
        "started": machine.now(), "commit": machine.commit(), "machine": machine.describe(),
        "setting": {
            "cpus": str(options.placement), "groups": own.groups.note, "descriptors": lab.descriptors,
            "mix_connections": min(scenario.MIX_CONNECTIONS, lab.connection_limit),
            "link": str(options.client_link), "link_method": lab.link_method, "quota": options.quota,
            "mtu": network.MTU_BYTES, "sysctls": network.SYSCTLS, "client": options.client,
        },
        "options": {"seconds": options.seconds, "warmup": options.warmup,
                    "command": [machine.without_places(word) for word in sys.argv[1:]]},
        "peers": machine.peers(peers), "tools": machine.tool_versions(),
        "load_sha256": machine.sha256(options.load_path),
    }


def _notes(own, options):
    """What the reader of the figures ought to know before they come."""
    if isinstance(own.groups, session.cgroups.NoGroups):
        yield own.groups.note
        if options.quota:
            raise LabError("--quota needs control groups, which this machine does not let us have")
    if options.placement.proxy_shares:
        yield "the proxy shares its CPU with client or origin: its busy time is theirs, too"
    elif options.placement.ends_share:
        yield "client and origin share their CPUs; `bound` names the one that used more of them"
