"""A virtual machine for what a test needs of a kernel that this machine's may lack: Debian's cloud kernel under QEMU's
own emulation, with a root of busybox and whatever a test puts in.

The kernel is the one that linux-image-cloud-amd64 depends on, fetched with `apt-get download` and unpacked in a work
folder, not installed. Needs qemu-system-x86, busybox-static, cpio, kmod and xz-utils. The guest runs /init and says by
lines that begin with MARK what has come out; QEMU's exit status says nothing, the last line does.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import time

MARK = "RESULT "
_FOLDERS = ("bin", "dev", "modules", "proc", "sys", "tmp", "tools")


def run(*words, **keywords):
    return subprocess.run(list(map(str, words)), check=True, **keywords)


def _download_kernel(work):
    """Three times, and with new lists the second time: mirrors drop what security updates replaced."""
    for attempt in range(3):
        depends = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"],
                                 capture_output=True, text=True).stdout
        name = re.search(r"Depends: (linux-image-\S+)", depends)
        if name and subprocess.run(["apt-get", "-o", "APT::Sandbox::User=root", "download", name[1]],
                                   cwd=work, stdout=subprocess.DEVNULL).returncode == 0:
            return next(work.glob("linux-image-*.deb"))
        subprocess.run(["apt-get", "-qq", "update"], stdout=subprocess.DEVNULL)
        time.sleep(attempt)
    sys.exit("the kernel's package could not be downloaded: give it by --kernel-deb")


class Guest:
    """Made in the folder `work`, where the kernel is kept for the next time."""

    def __init__(self, work, package=None):
        work.mkdir(parents=True, exist_ok=True)
        self.work = work
        unpacked = work / "kernel"
        if not unpacked.exists():
            fresh = work / "unpacked"
            shutil.rmtree(fresh, ignore_errors=True)
            run("dpkg-deb", "-x", package or _download_kernel(work), fresh)
            fresh.rename(unpacked)
        self.kernel = next(unpacked.glob("boot/vmlinuz-*"))
        self.modules = next((unpacked / "lib/modules").iterdir())
        self.root = work / "root"
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in _FOLDERS:
            (self.root / folder).mkdir(parents=True)
        shutil.copy("/bin/busybox", self.root / "bin/busybox")

    def add_modules(self, names, folder="modules"):
        """With those that they depend on, as FOLDER/NAME.ko: insmod them in several passes."""
        run("depmod", "-b", self.modules.parent.parent.parent, self.modules.name)
        lines = (self.modules / "modules.dep").read_text().splitlines()
        depends = dict(line.split(":", 1) for line in lines)
        (self.root / folder).mkdir(exist_ok=True)
        for name in names:
            file = next(file for file in depends if re.search(rf"/{name}\.ko(\.xz)?$", file))
            for wanted in [file, *depends[file].split()]:
                out = self.root / folder / pathlib.Path(wanted).name
                shutil.copy(self.modules / wanted, out)
                if out.suffix == ".xz":
                    run("xz", "-df", out)

    def add_libraries_of(self, path):
        """Where the guest will look for them."""
        linked = subprocess.run(["ldd", str(path)], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+) \(0x", linked):
            out = self.root / library.lstrip("/")
            if not out.exists():
                out.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, out)

    def add_program(self, path, name):
        """As /tools/NAME, with the libraries that it is linked to."""
        if path is None:
            sys.exit(f"{name} is not installed")
        shutil.copy(path, self.root / "tools" / name)
        self.add_libraries_of(path)

    def add(self, path, keep=lambda path: True):
        """A file or folder, at the same place."""
        path = pathlib.Path(path)
        out = self.root / str(path).lstrip("/")
        out.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, out, symlinks=True, dirs_exist_ok=True,
                            ignore=lambda folder, names: [n for n in names if not keep(pathlib.Path(folder) / n)])
        else:
            shutil.copy2(path, out)

    def boot(self, init, machine, timeout_s, show=None):
        """The marked lines of a whole run of `init`, without the last one, which has to be "end".

        `machine` are QEMU's words for it. `show` gets each other line as it comes."""
        (self.root / "init").write_text(init)
        (self.root / "init").chmod(0o755)
        image = self.work / "initrd.gz"
        with image.open("wb") as out:
            run("sh", "-c", "find . | cpio -o -H newc --quiet | gzip -1", cwd=self.root, stdout=out)
        lines, marked, begun = [], [], False
        with subprocess.Popen(
                ["timeout", str(timeout_s), "qemu-system-x86_64", *machine, "-nographic", "-no-reboot",
                 "-kernel", self.kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace") as guest:
            for line in guest.stdout:
                lines.append(line.rstrip())
                # The first one stands behind what the firmware did to the screen.
                if MARK in line:
                    marked.append(line.partition(MARK)[2].strip())
                    begun = True
                elif show and begun:
                    show(lines[-1])
        if not marked or marked[-1] != "end":
            sys.exit("the guest did not come to its end:\n" + "\n".join(lines[-40:]))
        return marked[:-1]
