"""A folder that a program prepared: nothing in it leads out, hangs the reader, or is taken for what it is not."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.workspaces.looking import Limits, Looking, Stamp
from cluster.workspaces.manifest import Entry, Manifest

LIMITS = Limits(files=100, file_bytes=1_000, total_bytes=3_000)


def look(folder: Path, limits: Limits = LIMITS) -> Manifest:
    return Looking(folder, limits).look({}, {}).manifest


def link(folder: Path) -> None:
    (folder / "odd").symlink_to("/etc/passwd")


def link_to_a_folder(folder: Path) -> None:
    (folder / "odd").symlink_to("/etc")


def second_name(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.write_text("of somebody else")
    os.link(outside, folder / "odd")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "odd")


def wire(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "odd"))


def large(folder: Path) -> None:
    (folder / "odd").write_bytes(bytes(1_001))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (link, "link"),
        (link_to_a_folder, "link"),
        (second_name, "second name of a file"),
        (pipe, "special file"),
        (wire, "special file"),
        (large, "too large"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_cannot_leave_the_slot_is_told_by_name_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], why: str
) -> None:
    folder = tmp_path / "slot"
    folder.mkdir()
    monkeypatch.chdir(folder)
    make(folder)
    (folder / "plain").write_text("x")

    found = look(folder)

    assert found["odd"] == Entry(left=why)
    assert found["plain"].is_file


def test_a_folder_in_the_place_of_the_slots_own_by_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "slot").symlink_to("/etc")

    assert look(tmp_path / "slot") == {}


def test_names_that_are_no_text_and_paths_too_deep_are_told_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff\xfe")).write_text("x")
    (tmp_path / "back\\slash").write_text("x")
    deep = tmp_path.joinpath(*"abcdefghijklmnopq")
    deep.mkdir(parents=True)

    found = look(tmp_path)

    assert {entry.left for entry in found.values()} == {"name cannot be kept"}
    assert "\\xff\\xfe" in found


def test_a_name_that_the_ledger_would_not_keep_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD").write_text("x")

    assert [entry.left for entry in look(tmp_path).values()] == ["name cannot be kept"]


def test_files_together_over_the_limit_are_kept_as_far_as_they_fit(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_bytes(bytes(900))

    assert [entry.left for entry in look(tmp_path).values()] == [None, None, None, "too much together"]


def test_what_was_kept_stays_kept_whatever_is_put_beside_it(tmp_path: Path) -> None:
    limits = Limits(files=3, file_bytes=1_000, total_bytes=1_500)
    for name in ("x", "y"):
        (tmp_path / name).write_bytes(bytes(600))
    looking = Looking(tmp_path, limits)
    kept = looking.look({}, {}).manifest
    for number in range(10):
        (tmp_path / f"a{number}").write_bytes(bytes(400))

    found = looking.look(kept, {}).manifest

    assert {name: found[name] for name in ("x", "y")} == kept
    assert {entry.left for name, entry in found.items() if name not in kept} == {"too many"}


def test_a_file_that_takes_the_room_of_one_that_is_gone_is_kept(tmp_path: Path) -> None:
    limits = Limits(files=10, file_bytes=1_000, total_bytes=1_500)
    (tmp_path / "old").write_bytes(bytes(1_000))
    looking = Looking(tmp_path, limits)
    before = looking.look({}, {}).manifest
    (tmp_path / "old").rename(tmp_path / "new")

    assert [entry.left for entry in looking.look(before, {}).manifest.values()] == [None]


def test_a_folder_with_more_names_than_are_kept_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for number in range(10):
        (tmp_path / "d" / str(number)).touch()

    assert look(tmp_path, Limits(files=5, file_bytes=10, total_bytes=10)) == {"d/…": Entry(left="too many")}


def test_a_second_look_reads_nothing_that_did_not_change(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (1, 1))
    looking = Looking(tmp_path, LIMITS)
    first = looking.look({}, {})
    stamps = {name: stamp_of(tmp_path / name) for name in "ab"}
    (tmp_path / "b").write_text("other")

    second = looking.look(first.manifest, stamps)

    assert list(second.read.values()) == [b"other"]


def stamp_of(path: Path) -> Stamp:
    return Stamp.of(path.stat())
