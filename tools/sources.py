"""What the checkers share: which files there are, and C++ text without comments and literals."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP = (".h", ".cc")

_SKIPPED_FOLDERS = {".git", "build", "__pycache__"}

# What may hide a brace or a name from a reader that does not parse: comments, strings, characters.
_HIDDEN = re.compile(r"""
    //[^\n]*
  | /\*.*?\*/
  | R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"
  | "(?:\\.|[^"\\\n])*"
  | '(?:\\.|[^'\\\n])+'
""", re.VERBOSE | re.DOTALL)


def files(*folders, suffixes=CPP):
    """Paths under the folders (of the tree's root), sorted: what git knows or would add, else what is there."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:  # an archive of the tree
        paths = [pathlib.Path(folder) / name for folder, subfolders, names in os.walk(ROOT) for name in names
                 if not _SKIPPED_FOLDERS & set(pathlib.Path(folder).relative_to(ROOT).parts)]
    roots = [ROOT / folder for folder in folders]
    return sorted(path for path in paths
                  if path.suffix in suffixes and path.is_file() and any(path.is_relative_to(root) for root in roots))


def code_of(text):
    """The text with comments and literals blanked: every line and column stays where it was.

    A literal keeps its quotes, so that it still counts as a value.
    """
    def blank(match):
        hidden = match.group()
        if hidden[0] in "\"'R":
            return hidden[0].replace("R", '"') + re.sub(r"[^\n]", " ", hidden[1:-1]) + hidden[-1]
        return re.sub(r"[^\n]", " ", hidden)

    # 1'000'000 is no character literal.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)
    return _HIDDEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def finish(name, faults, looked_at):
    """Prints the faults and ends the program: with 1 if there are any, or if there was nothing to look at."""
    for fault in faults:
        print(fault)
    print(f"{name}: {len(faults)} faults in {looked_at} files")
    sys.exit(1 if faults or looked_at == 0 else 0)
