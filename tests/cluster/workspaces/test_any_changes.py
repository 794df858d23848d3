"""Whatever steps do to files: put elsewhere by manifest, the same tree comes out."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import Workspace
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.cluster.workspaces.conftest import Slots, tree_of
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

NAMES = st.sampled_from(["a", "b", "d/a", "d/e/f", "workspace/n", "workspace/d/m", "d/é", "d/e", "workspace"])
CHANGES = st.one_of(
    st.tuples(st.just("write"), NAMES, st.binary(max_size=40)),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("folder"), NAMES),
    st.tuples(st.just("mode"), NAMES, st.sampled_from([0o600, 0o644, 0o755, 0o444])),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("step")),
    st.tuples(st.just("elsewhere")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGES, max_size=25), st.booleans())
def test_any_sequence_of_changes_comes_out_the_same_elsewhere(changes: list[tuple[object, ...]], owner: bool) -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(_carried(Path(home), changes, owner=owner))


async def _carried(home: Path, changes: list[tuple[object, ...]], *, owner: bool) -> None:
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=HandClock())
    try:
        slots, order = Slots(store, home / "slots"), an_order(workspace=Workspace() if owner else None)
        files, folder = await slots.open(order)
        for change in [*changes, ("elsewhere",)]:
            if change[0] == "step":
                await slots.commit(files)
            elif change[0] == "elsewhere":
                await slots.commit(files)
                files, other = await slots.open(order)
                assert files.problem(done=False) is None
                assert tree_of(other) == tree_of(folder)
                folder = other
            else:
                _change(folder, *change)
        if owner:
            await _next_order_has_it(slots, folder)
    finally:
        await store.close()


async def _next_order_has_it(slots: Slots, folder: Path) -> None:
    _, other = await slots.open(an_order(workspace=Workspace()))
    own = {path: what for path, what in tree_of(folder).items() if path.startswith("workspace/")}
    assert tree_of(other) == own


def _change(folder: Path, kind: object, name: object, what: object = None) -> None:
    path = folder / cast(str, name)
    try:
        match kind:
            case "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(cast(bytes, what))
            case "remove" if path.is_dir():
                shutil.rmtree(path)
            case "remove":
                path.unlink()
            case "folder":
                path.mkdir(parents=True)
            case "mode" if path.is_file():
                path.chmod(cast(int, what))
            case "move":
                path.rename(folder / cast(str, what))
    except OSError:  # the sequence asks for what cannot be done: a file is no folder, …
        return
