"""The checkers of tools/ find what they are for, at the right line, and nothing else."""

import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / "tools"


def run(checker, *args):
    return subprocess.run(["/usr/bin/python3", TOOLS / checker, *args], capture_output=True, text=True, check=False)


def check_text(checker, tmp_path, text):
    file = tmp_path / "some.cc"
    file.write_text(text)
    return run(checker, file)


# ---- check_coroutines ----

def refusals_in(output):
    """(line, reason) of each fault."""
    return [(int(line), reason) for line, reason in re.findall(r"^\S+:(\d+): (.*)$", output, re.MULTILINE)]


def test_good_forms_of_coroutines_pass():
    done = run("check_coroutines", HERE / "coroutines/good.cc")
    assert done.returncode == 0, done.stdout


def test_bad_forms_of_coroutines_are_found_where_they_stand_and_nowhere_else():
    path = HERE / "coroutines/bad.cc"
    expected = {number: line.partition("// refused: ")[2]
                for number, line in enumerate(path.read_text().splitlines(), start=1) if "// refused: " in line}
    done = run("check_coroutines", path)
    assert done.returncode == 1
    found = refusals_in(done.stdout)
    assert [line for line, _ in found] == list(expected), done.stdout
    for line, reason in found:
        assert expected[line] in reason


# ---- check_layers ----

def layers(tmp_path, **headers):
    """A tree of headers: base_error="net/loop.h" is base/error.h that includes it."""
    for name, includes in headers.items():
        path = tmp_path / (name.replace("_", "/") + ".h")
        path.parent.mkdir(exist_ok=True)
        lines = ["#pragma once", *(f'#include "{include}"' for include in includes.split())]
        path.write_text("\n".join(lines) + "\n")
    return run("check_layers", tmp_path)


def test_layers_below_may_be_included(tmp_path):
    done = layers(tmp_path, base_error="", net_loop="base/error.h", dns_options="net/loop.h",
                  session_serve="dns/options.h net/loop.h base/error.h", config_table="dns/options.h",
                  app_main="session/serve.h config/table.h")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("includer, included", (
    ("base_error", "net/loop.h"), ("http_head", "net/loop.h"), ("net_loop", "session/serve.h"),
    ("session_serve", "config/table.h"), ("config_table", "dns/resolver.h"), ("session_serve", "app/main.h"),
    ("admin_page", "session/serve.h"), ("relay_relay", "dns/options.h"),
))
def test_layers_above_may_not(tmp_path, includer, included):
    folder, _, header = included.partition("/")
    done = layers(tmp_path, **{f"{folder}_{header[:-2]}": "", includer: included})
    assert done.returncode == 1
    place = includer.replace("_", "/") + ".h:2: " + includer.partition("_")[0]
    assert f'{place} may not include "{included}"' in done.stdout


def test_other_breaches_of_layering_are_found(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "base" / "a.h").write_text("int a;\n")
    (tmp_path / "base" / "b.cc").write_text('#include "a.h"\n#include <base/a.h>\n#  include "base/a.h"\n')
    (tmp_path / "odd" / "c.h").write_text("#pragma once\n")
    done = run("check_layers", tmp_path)
    assert done.returncode == 1
    for fault in ("base/a.h: lacks #pragma once", 'base/b.cc:1: "a.h" is no path', "base/b.cc:2: our own header",
                  "odd/c.h: in no folder"):
        assert fault in done.stdout, done.stdout
    assert "b.cc:3" not in done.stdout


def test_an_empty_tree_is_not_taken_for_a_good_one(tmp_path):
    assert run("check_layers", tmp_path).returncode == 1


# ---- check_words ----

@pytest.mark.parametrize("line", ("int peer_fd;", "class RemoteEnd;", "fooPeer()", "// the peer's end", "backends",
                                  "kDownstream", "/home/ann/headrace", "/work/tree/x"))
def test_misleading_words_are_found(tmp_path, line):
    done = check_text("check_words", tmp_path, "int a;\n" + line + "\n")
    assert done.returncode == 1 and "some.cc:2:" in done.stdout, done.stdout


@pytest.mark.parametrize("line", ("getpeername(fd)", "SO_PEERCRED", "upstream and client", "remotely", "spear",
                                  "the home/work balance"))
def test_other_words_are_not(tmp_path, line):
    assert check_text("check_words", tmp_path, line + "\n").returncode == 0
