"""What steps leave in a slot goes on with the order, wherever that goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cluster.workspaces import files_stream
from contracts import TaskOrder
from runtime.errors import StaleWriter, VersionConflict
from runtime.settings import FileSettings, SlotSettings
from tests.cluster.workspaces.conftest import Slots, tree_of

pytestmark = pytest.mark.anyio

NAMES = ["плат.txt", "表/数据.csv", "a b/ c.txt", "e\u0301.txt", "\u00e9.txt", "new\nline", "🌊", "x" * 255]


async def test_files_of_finished_steps_lie_in_the_next_slot(slots: Slots, order: TaskOrder) -> None:
    files, folder = await slots.open(order)
    (folder / "tables").mkdir()
    (folder / "tables" / "a.csv").write_bytes(b"1,2\n")
    (folder / "run.sh").write_text("true")
    (folder / "run.sh").chmod(0o755)
    (folder / "empty").mkdir()
    assert await slots.commit(files, "one")
    (folder / "b.bin").write_bytes(bytes(range(256)) * 40_000)
    assert await slots.commit(files, "two")
    committed = tree_of(folder)
    (folder / "half.txt").write_text("of a step that never ended")

    _, other = await slots.open(order)

    assert tree_of(other) == committed


async def test_only_what_changed_is_told_and_a_deleted_file_is_a_fact(slots: Slots, order: TaskOrder) -> None:
    files, folder = await slots.open(order)
    for name in "abc":
        (folder / name).write_text(name)
    await slots.commit(files, "one")
    (folder / "a").unlink()
    (folder / "b").write_text("other")
    await slots.commit(files, "two")
    assert not await slots.commit(files, "three")

    _, second = await slots.store.ledger.read(files_stream(order.order_id))

    assert second.data is not None
    assert [each["path"] for each in second.data["files"]] == ["b"]
    assert [each["path"] for each in second.data["removed"]] == ["a"]
    assert tree_of((await slots.open(order))[1]).keys() == {"b", "c"}


async def test_names_in_any_script_come_back_as_they_were(slots: Slots, order: TaskOrder) -> None:
    files, folder = await slots.open(order)
    for name in NAMES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    await slots.commit(files)

    assert tree_of((await slots.open(order))[1]) == tree_of(folder)


async def test_a_file_written_again_in_the_same_moment_with_the_same_size_is_noticed(
    quick_slots: Slots, order: TaskOrder
) -> None:
    files, folder = await quick_slots.open(order)
    for text in ("aaaa", "bbbb", "cccc"):
        (folder / "same").write_text(text)
        assert await quick_slots.commit(files)

    assert ((await quick_slots.open(order))[1] / "same").read_text() == "cccc"


async def test_a_folder_that_a_script_took_away_is_empty(quick_slots: Slots, order: TaskOrder) -> None:
    files, folder = await quick_slots.open(order)
    (folder / "a").write_text("a")
    await quick_slots.commit(files)
    (folder / "a").unlink()
    folder.rmdir()
    assert await quick_slots.commit(files)

    assert tree_of((await quick_slots.open(order))[1]) == {}


async def test_what_belongs_to_programs_stays_in_the_slot(quick_slots: Slots, order: TaskOrder) -> None:
    files, folder = await quick_slots.open(order)
    (folder / ".cache").mkdir()
    (folder / ".cache" / "fonts").write_text("x")

    assert not await quick_slots.commit(files)


async def test_a_file_that_could_not_leave_its_slot_stops_the_order_in_another(
    quick_slots: Slots, order: TaskOrder
) -> None:
    files, folder = await quick_slots.open(order, slot=SlotSettings(file_mib=1))
    (folder / "big.bin").write_bytes(bytes(1024 * 1024 + 1))
    await quick_slots.commit(files)
    assert files.problem(done=False) is None

    other, _ = await quick_slots.open(order)

    problem = other.problem(done=False)
    assert problem is not None
    assert (problem.code, problem.facts["path"]) == ("WORKSPACE_MISMATCH", "big.bin")
    assert other.problem(done=True) is None


async def test_more_files_than_are_kept_are_told_and_not_kept(quick_slots: Slots, order: TaskOrder) -> None:
    files, folder = await quick_slots.open(order, FileSettings(count=3))
    for number in range(10):
        (folder / str(number)).write_text("x")
    await quick_slots.commit(files)

    (event,) = await quick_slots.store.ledger.read(files_stream(order.order_id))

    assert event.data is not None
    assert [(each["path"], each["left"]) for each in event.data["files"]] == [("…", "too many")]


async def test_bytes_that_are_gone_from_the_store_stop_the_order_and_name_the_file(
    quick_slots: Slots, order: TaskOrder, tmp_path: Path
) -> None:
    files, folder = await quick_slots.open(order)
    (folder / "tables").mkdir()
    (folder / "tables" / "rates.csv").write_text("1")
    await quick_slots.commit(files)
    remove_blobs(tmp_path / "silicon.db")

    problem = (await quick_slots.open(order))[0].problem(done=False)

    assert problem is not None
    assert problem.code == "WORKSPACE_MISMATCH"
    assert problem.facts["path"] == "tables/rates.csv"
    assert "tables/rates.csv" in problem.message


async def test_the_second_of_two_that_hold_one_order_is_told_to_stop(quick_slots: Slots, order: TaskOrder) -> None:
    first, folder = await quick_slots.open(order)
    second, other = await quick_slots.open(order)
    (folder / "a").write_text("a")
    (other / "b").write_text("b")
    await quick_slots.commit(first)

    with pytest.raises(VersionConflict) as conflict:
        await quick_slots.commit(second)
    with pytest.raises(StaleWriter):
        await second.catch_up(conflict.value)


def remove_blobs(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM blob_parts")
        connection.execute("DELETE FROM blobs")
