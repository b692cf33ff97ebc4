"""Programs of the tree that the lab needs: found where they were built, or built on first use."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import LabError

TREE = Path(__file__).resolve().parents[2]
NEEDED = "cmake ninja-build g++ libssl-dev"


def find_bench_program(name, given=""):
    """The path of headrace-load or headrace-link, built if need be."""
    if given:
        if not os.access(given, os.X_OK):
            raise LabError(f"{given}: no such program")
        return str(Path(given).resolve())
    return built_bench_program(name) or _build_bench_program(name)


def built_bench_program(name):
    """The path of a program of bench/, or '' where it was not built yet."""
    folder = name.split("-")[1]
    in_tree = f"bench/{folder}/{name}"
    for path in [TREE / "build" / folder / name, TREE / "build/release" / in_tree,
                 *sorted(TREE.glob(f"build/*/{in_tree}"))]:
        if os.access(path, os.X_OK):
            return str(path.resolve())
    return ""


def reference():
    _build_bench_program("headrace-reference")


def headrace():
    """Builds the tree's release; raises LabError with the compiler's last words where that fails."""
    _cmake("headrace", ["--preset", "release"], ["--preset", "release", "--target", "headrace"])


def _build_bench_program(name):
    folder = name.split("-")[1]
    directory = TREE / "build" / folder
    _cmake(name, ["-S", TREE / "bench" / folder, "-B", directory, "-DCMAKE_BUILD_TYPE=Release"], [directory])
    return str(directory / name)


def _cmake(what, configure, build):
    if not shutil.which("cmake"):
        raise LabError(f"no {what} yet, and no cmake to build it: apt-get install {NEEDED}")
    print(f"note: building {what}", file=sys.stderr)
    for words in (configure, ["--build", *build]):
        done = subprocess.run(["cmake", *(str(w) for w in words)], capture_output=True, text=True, cwd=TREE)
        if done.returncode != 0:
            raise LabError(f"building {what} failed:\n{(done.stdout + done.stderr)[-2000:]}")
