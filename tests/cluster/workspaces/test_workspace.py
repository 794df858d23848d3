"""An employee's own files: in every slot its orders get, written back with each step, shared file by file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.workspaces import OrderFiles
from cluster.workspaces.manifest import Manifest
from cluster.workspaces.owned import PACK_EVERY, read_workspace, stream_of
from cluster.workspaces.owned import Workspace as Owned
from contracts import Event, TaskOrder, Workspace
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, NewEvent
from tests.cluster.workspaces.conftest import Slots, tree_of
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio

STREAM = stream_of("three-airports", "analyst")
Orders = Callable[[], TaskOrder]


def write(folder: Path, name: str, text: str) -> None:
    (folder / "workspace").mkdir(exist_ok=True)
    (folder / "workspace" / name).write_text(text)


async def merged(slots: Slots, files: OrderFiles, step: str = "do") -> None:
    """Store what the step left, taking in what others wrote meanwhile, as the journal does."""
    while True:
        try:
            await slots.commit(files, step)
        except VersionConflict as conflict:
            await files.catch_up(conflict)
        else:
            return


async def contents(slots: Slots) -> dict[str, str]:
    found = await read_workspace(slots.store, STREAM)
    return {path: (await slots.store.blobs.get(entry.sha256 or "")).decode() for path, entry in found.manifest.items()}


async def test_the_next_order_finds_what_the_last_one_left_in_the_workspace(slots: Slots, owners_order: Orders) -> None:
    files, folder = await slots.open(owners_order())
    write(folder, "notes.md", "first")
    (folder / "scratch.txt").write_text("of the order alone")
    await slots.commit(files)

    _, other = await slots.open(owners_order())

    assert {name: what and what[0] for name, what in tree_of(other).items()} == {"workspace/notes.md": b"first"}


async def test_an_employee_without_a_workspace_shares_nothing(slots: Slots, owners_order: Orders) -> None:
    files, folder = await slots.open(an_order())
    write(folder, "notes.md", "mine")
    await slots.commit(files)

    assert tree_of((await slots.open(owners_order()))[1]) == {}


async def test_two_orders_that_write_different_files_are_merged(slots: Slots, owners_order: Orders) -> None:
    (first, one), (second, two) = await slots.open(owners_order()), await slots.open(owners_order())
    write(one, "a.md", "of one")
    write(two, "b.md", "of two")
    await merged(slots, first)
    await merged(slots, second)

    assert await contents(slots) == {"a.md": "of one", "b.md": "of two"}
    assert second.problem(done=True) is None


async def test_two_orders_that_write_the_same_into_one_file_agree(slots: Slots, owners_order: Orders) -> None:
    (first, one), (second, two) = await slots.open(owners_order()), await slots.open(owners_order())
    for files, folder in ((first, one), (second, two)):
        write(folder, "a.md", "the same")
        await merged(slots, files)
    write(two, "a.md", "and then more")
    await merged(slots, second)

    assert second.problem(done=True) is None
    assert await contents(slots) == {"a.md": "and then more"}


async def test_the_second_writer_of_one_file_stops_and_nothing_is_written_over(
    slots: Slots, owners_order: Orders
) -> None:
    order = owners_order()
    (first, one), (second, two) = await slots.open(owners_order()), await slots.open(order)
    write(one, "a.md", "of one")
    await merged(slots, first)
    write(two, "a.md", "of two")
    write(two, "b.md", "of two")
    await merged(slots, second)

    problem = second.problem(done=True)

    assert problem is not None
    assert (problem.code, problem.facts["path"]) == ("WORKSPACE_CONFLICT", "a.md")
    assert await contents(slots) == {"a.md": "of one", "b.md": "of two"}
    assert (await slots.open(order))[0].problem(done=True) == problem


async def test_a_file_deleted_by_one_and_changed_by_another_is_a_conflict(slots: Slots, owners_order: Orders) -> None:
    files, folder = await slots.open(owners_order())
    write(folder, "a.md", "old")
    await merged(slots, files)
    (first, one), (second, two) = await slots.open(owners_order()), await slots.open(owners_order())
    (one / "workspace" / "a.md").unlink()
    await merged(slots, first)
    write(two, "a.md", "new")
    await merged(slots, second)

    problem = second.problem(done=True)

    assert problem is not None
    assert problem.code == "WORKSPACE_CONFLICT"
    assert await contents(slots) == {}


async def test_an_order_resumed_after_a_conflict_goes_on_with_what_stands_in_the_workspace(
    slots: Slots, owners_order: Orders
) -> None:
    order = owners_order()
    (first, one), (second, two) = await slots.open(owners_order()), await slots.open(order)
    write(one, "a.md", "of one")
    await merged(slots, first)
    write(two, "a.md", "of two")
    await merged(slots, second)
    await ended(slots, order)

    again, folder = await slots.open(order)

    assert again.problem(done=True) is None
    assert (folder / "workspace" / "a.md").read_text() == "of one"
    write(folder, "a.md", "of one and two")
    await merged(slots, again)
    assert await contents(slots) == {"a.md": "of one and two"}


async def test_an_order_in_a_new_slot_keeps_the_workspace_it_began_with(slots: Slots, owners_order: Orders) -> None:
    order = owners_order()
    _, one = await slots.open(order)
    files, folder = await slots.open(owners_order())
    write(folder, "later.md", "of another")
    await merged(slots, files)

    assert tree_of((await slots.open(order))[1]) == tree_of(one) == {}


@pytest.mark.parametrize(
    ("grant", "why"), [(Workspace(files=2), "too many"), (Workspace(total_bytes=10), "too much together")]
)
async def test_a_workspace_over_its_limit_stops_the_order(quick_slots: Slots, grant: Workspace, why: str) -> None:
    files, folder = await quick_slots.open(an_order(workspace=grant))
    for name in "abc":
        write(folder, name, "12345")
    await merged(quick_slots, files)

    problem = files.problem(done=True)

    assert problem is not None
    assert (problem.code, problem.facts["why"]) == ("WORKSPACE_REFUSED", why)
    assert await contents(quick_slots) == {}


async def test_a_link_in_the_workspace_stops_the_order_and_is_named(quick_slots: Slots, owners_order: Orders) -> None:
    files, folder = await quick_slots.open(owners_order())
    write(folder, "a.md", "x")
    (folder / "workspace" / "out").symlink_to("/etc/passwd")
    await merged(quick_slots, files)

    problem = files.problem(done=True)

    assert problem is not None
    assert (problem.code, problem.facts["path"], problem.facts["why"]) == ("WORKSPACE_REFUSED", "out", "link")
    assert await contents(quick_slots) == {"a.md": "x"}


async def test_a_workspace_is_read_from_its_last_whole_manifest(quick_slots: Slots, owners_order: Orders) -> None:
    files, folder = await quick_slots.open(owners_order())
    for number in range(PACK_EVERY + 3):
        write(folder, f"{number % 7}.txt", str(number))
        await quick_slots.commit(files)

    events = await quick_slots.store.ledger.read(STREAM)
    assert [event.stream_version for event in events if "manifest_sha256" in (event.data or {})] == [PACK_EVERY]
    assert (await read_workspace(quick_slots.store, STREAM)).manifest == folded(events)
    assert (await read_workspace(quick_slots.store, STREAM, at=PACK_EVERY + 1)).manifest == folded(
        events[: PACK_EVERY + 1]
    )
    assert len(await contents(quick_slots)) == 7


def folded(events: list[Event]) -> Manifest:
    whole = Owned(STREAM)
    for event in events:
        whole.take_in(event)
    return whole.manifest


async def ended(slots: Slots, order: TaskOrder) -> None:
    """Let the order end, as the engine does when its files give it reason to."""
    end = Append(order.order_id, (NewEvent("order.finished", {}),), 0, order.organisation, "/test")
    await slots.store.ledger.append(end)
