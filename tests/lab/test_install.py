"""Missing peers are offered by the names of their packages, and installed only where that was asked for."""

import os
import stat

import pytest
from labkit import cli, scenario
from labkit.errors import LabError

RECIPE = '''from labkit.recipe import Launch, Peer


class Absent(Peer):
    package = "absent-package"
    program = "absent-program"
    families = ("relay",)

    def launch(self, job):
        return Launch([self.binary])
'''
APT_GET = '''#!/bin/sh
echo "$@" >> "{log}"
printf '#!/bin/sh\\n' > "{bin}/absent-program"
chmod +x "{bin}/absent-program"
'''


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """With a recipe for a proxy that is not there, and an apt-get that only says what it was asked for."""
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers/absent.py").write_text(RECIPE)
    tools = tmp_path / "bin"
    tools.mkdir()
    apt_get = tools / "apt-get"
    apt_get.write_text(APT_GET.format(log=tmp_path / "asked", bin=tools))
    apt_get.chmod(apt_get.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return tmp_path


def peers(machine, *words):
    arguments = cli.parser().parse_args(["run", "--out", "x", "--peers", str(machine / "peers"), *words])
    return cli._peers(arguments, scenario.select(["relay-ka-1k"]))


def test_a_missing_proxy_is_named_with_its_package_and_nothing_is_installed_unasked(machine, capsys):
    with pytest.raises(LabError, match="absent is not here: package absent-package"):
        peers(machine, "--proxies", "absent")
    assert "apt-get install -y --no-install-recommends absent-package, or run again with --install" \
        in capsys.readouterr().err
    assert not (machine / "asked").exists()


def test_install_installs_by_name_and_measures(machine):
    [peer] = peers(machine, "--proxies", "absent", "--install")
    assert peer.installed
    assert (machine / "asked").read_text() == "install -y --no-install-recommends absent-package\n"
