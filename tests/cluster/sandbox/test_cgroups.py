from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cluster.sandbox.allowance import Allowance
from cluster.sandbox.cgroups import Cgroup, Parents, find_parents, group_for, parents, sweep
from runtime.capabilities.port import NO_GRANTS
from runtime.settings import SlotSettings

ALLOWED = Allowance.of(SlotSettings(memory_mib=64, processes=5), NO_GRANTS)
needs_groups = pytest.mark.skipif(parents() is None, reason="this process may make no cgroups")


def tree(root: Path, *folders: str, hands_on: str = "") -> None:
    """Make what looks like a tree of cgroups."""
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "cgroup.procs").touch()
        (root / folder / "cgroup.subtree_control").write_text(hands_on)


def test_with_version_1_each_controller_has_a_folder_of_its_own(tmp_path: Path) -> None:
    tree(tmp_path, "memory/app", "pids")

    assert find_parents("4:memory:/app\n8:pids:/\n0::/\n", tmp_path) == Parents(
        1, {"memory": tmp_path / "memory" / "app", "pids": tmp_path / "pids"}
    )


def test_with_version_2_the_group_above_hands_on_what_a_service_in_its_subgroup_may_use(tmp_path: Path) -> None:
    tree(tmp_path, "unit.service", hands_on="memory pids")
    tree(tmp_path, "unit.service/main")

    unit = tmp_path / "unit.service"
    assert find_parents("0::/unit.service/main\n", tmp_path) == Parents(2, {"memory": unit, "pids": unit})


@pytest.mark.parametrize("own", ["0::/unit.service\n", "", "4:memory:/\n", "0::/../..\n"])
def test_where_nothing_is_handed_on_no_group_can_be_made(tmp_path: Path, own: str) -> None:
    tree(tmp_path, "unit.service", "memory")

    assert find_parents(own, tmp_path) is None


def test_with_version_2_the_limits_are_written_where_the_kernel_reads_them(tmp_path: Path) -> None:
    own = tmp_path / f"silicon-{os.getpid()}-one"
    original = Path.mkdir

    def as_the_kernel(folder: Path) -> None:
        original(folder)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            (folder / name).touch()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "mkdir", as_the_kernel)
        Cgroup(Parents(2, dict.fromkeys(("memory", "pids"), tmp_path)), "one", ALLOWED)

    assert (own / "memory.max").read_text() == str(64 * 1_024 * 1_024)
    assert (own / "pids.max").read_text() == "5"


@needs_groups
def test_what_is_in_a_group_ends_with_it() -> None:
    group = group_for("test", ALLOWED)
    assert group is not None
    doors = group.doors()
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        for door in doors:
            os.write(door, str(sleeper.pid).encode())
            os.close(door)

        assert group.pids() == [sleeper.pid]
        group.kill()

    assert sleeper.returncode == -9
    group.remove()
    assert not group.ran_out_of_memory()


def test_processes_of_another_namespace_are_not_taken_for_ourselves(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    tree(tmp_path, f"silicon-{gone.pid}-other")
    (tmp_path / f"silicon-{gone.pid}-other" / "cgroup.procs").write_text("0\n0\n")

    sweep(tmp_path)  # a signal to 0 would end this very process

    assert (tmp_path / f"silicon-{gone.pid}-other" / "cgroup.procs").read_text() == "0\n0\n"


@needs_groups
def test_groups_of_processes_that_are_gone_are_swept_away() -> None:
    made = parents()
    assert made is not None
    with subprocess.Popen(["true"]) as gone:
        pass
    left = made.folders["pids"] / f"silicon-{gone.pid}-left"
    left.mkdir()

    sweep(made.folders["pids"])

    assert not left.exists()
