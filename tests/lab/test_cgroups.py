"""Control groups of both versions, on a directory that looks like the kernel's."""

import os

import pytest
from labkit import cgroups
from labkit.cpus import parse_placement

PLACEMENT = parse_placement("cli=0,prx=1,srv=2-3", range(4))


@pytest.fixture
def version_2(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    make = tmp_path.__class__.mkdir

    def mkdir(path, *args, **kwargs):
        """The kernel fills a new group with its control files."""
        existed = path.exists()
        make(path, *args, **kwargs)
        if not existed:
            for name in ("cpuset.cpus", "cpu.max", "cpu.weight", "cgroup.procs", "cgroup.subtree_control"):
                (path / name).write_text("")
    patch = pytest.MonkeyPatch()
    patch.setattr(tmp_path.__class__, "mkdir", mkdir)
    yield tmp_path
    patch.undo()


def test_version_2_confines_each_side_and_limits_the_proxy(version_2):
    assert cgroups.GroupsV2.available(version_2)
    groups = cgroups.GroupsV2("t", version_2)
    groups.create(PLACEMENT, quota=0.3)
    assert (version_2 / "cgroup.subtree_control").read_text() == "+cpuset +cpu +memory"
    assert [(version_2 / "t" / r / "cpuset.cpus").read_text() for r in ("cli", "prx", "srv")] == ["0", "1", "2-3"]
    assert [(version_2 / p / "cpu.weight").read_text() for p in ("t", "t/cli", "t/srv")] == ["10000", "1000", ""]
    assert (version_2 / "t/prx/cpu.max").read_text() == "30000 100000"
    groups.join("prx")
    assert groups.pids("prx") == [os.getpid()]


def test_version_2_tells_time_and_memory(version_2):
    groups = cgroups.GroupsV2("t", version_2)
    groups.create(PLACEMENT)
    (version_2 / "t/prx/cpu.stat").write_text("usage_usec 3539799\nuser_usec 1\nsystem_usec 2\n")
    (version_2 / "t/prx/memory.peak").write_text("3399680\n")
    (version_2 / "t/prx/memory.current").write_text("1048576\n")
    assert (groups.cpu_s("prx"), groups.peak_bytes("prx"), groups.memory_bytes("prx")) == (3.539799, 3399680, 1048576)
    assert groups.foreign_cpu_s(PLACEMENT.prx) is None


@pytest.mark.parametrize("controllers", ["", "cpu io pids", "cpuset cpu"])
def test_version_2_without_its_controllers_is_not_taken(tmp_path, controllers):
    (tmp_path / "cgroup.controllers").write_text(controllers)
    (tmp_path / "cgroup.subtree_control").write_text("")
    assert not cgroups.GroupsV2.available(tmp_path)


def test_version_1_counts_others_on_the_proxys_cpus_only(tmp_path):
    groups = cgroups.GroupsV1("t", tmp_path)
    (tmp_path / "cpuacct/t").mkdir(parents=True)
    (tmp_path / "cpuacct/cpuacct.usage_percpu").write_text("9000000000 5000000000 0 0\n")
    (tmp_path / "cpuacct/t/cpuacct.usage_percpu").write_text("1000000000 3500000000 0 0\n")
    assert groups.foreign_cpu_s({1}) == 1.5


def test_without_groups_a_side_is_known_by_its_descent():
    groups = cgroups.NoGroups("t")
    groups.adopt("prx", os.getpid())
    assert os.getpid() in groups.pids("prx") and groups.pids("cli") == []
    assert groups.memory_bytes("prx") > 1 << 20
