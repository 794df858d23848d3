"""The files of one order, in the stream `files/ORDER-ULID`: put into whatever slot it gets, kept with every step."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.workspaces.errors import WorkspaceMismatch
from cluster.workspaces.filling import fill
from cluster.workspaces.looking import Limits, Look, Looking, Stamp
from cluster.workspaces.manifest import FOLDER, WORKSPACE, Delta, Entry, Manifest, apply, between
from cluster.workspaces.owned import delta_in, parts_of, read_workspace, stream_of
from cluster.workspaces.sharing import Share, Told
from contracts import Event, OrderId, Problem, TaskOrder
from runtime.engine.ports import FilesLeft
from runtime.errors import SiliconError, StaleWriter, VersionConflict
from runtime.ledger.port import Append, Lease, NewEvent, Store
from runtime.settings import FileSettings, SlotSettings

CHANGED = "files.changed"
TAKEN = "workspace.taken"
REFUSED = "workspace.refused"
_MIB = 1_024 * 1_024


def files_stream(order: OrderId) -> str:
    """Return the stream that tells what the steps of an order left in its slot."""
    return f"files/{order.ulid}"


class OrderFiles:
    """The port `SlotFiles` for one order in one slot."""

    def __init__(
        self, store: Store, order: TaskOrder, folder: Path, *,
        files: FileSettings, slot: SlotSettings, leases: Sequence[Lease],
    ) -> None:  # fmt: skip
        self._store = store
        self._order = order
        self._folder = folder
        self._limits = Limits(files.count, slot.file_mib * _MIB, files.total_mib * _MIB)
        self._leases = tuple(leases)
        self._looking = Looking(folder, self._limits)
        self._stream = files_stream(order.order_id)
        self._version = 0
        self._kept: Manifest = {}
        """What the ledger says lies in the folder."""
        self._stamps: Mapping[str, Stamp] = {}
        self._share: Share | None = None
        """Its part in the employee's workspace, where that owns one."""
        self._mismatch: SiliconError | None = None
        self._refused: SiliconError | None = None

    @classmethod
    async def open(
        cls, store: Store, order: TaskOrder, folder: Path, *,
        files: FileSettings, slot: SlotSettings, leases: Sequence[Lease],
    ) -> OrderFiles:  # fmt: skip
        """Return the files of an order, put into the slot's fresh folder as earlier steps left them.

        What cannot be put there as it was is no error here: `problem` tells it, and the engine ends the order with it.
        """
        found = cls(store, order, folder, files=files, slot=slot, leases=leases)
        await found._read()
        await found._fill()
        return found

    async def left_by(self, step: str) -> FilesLeft | None:
        """Return what changed since the last commit, told as what this step left; None when nothing did."""
        seen = await self._look()
        delta = between(self._kept, seen.manifest)
        if not delta:
            self._stamps = seen.stamps
            return None
        own = [NewEvent(CHANGED, {"step": step, **part}) for part in parts_of(delta)]
        blobs, appends = list(seen.read.values()), list[Append]()
        put, refused = self._share.put(delta.below(WORKSPACE)) if self._share else (Delta({}, {}), [])
        if put and self._share is not None:
            workspace = self._share.workspace
            events, more = workspace.events_for(put, order=self._order.order_id, step=step)
            blobs += more
            appends.append(self._append(workspace.stream, events, workspace.version))
        if refused:
            own.append(NewEvent(REFUSED, {"step": step, "files": refused}))
        appends.insert(0, self._append(self._stream, own, self._version))

        def stored() -> None:
            self._kept, self._stamps = dict(seen.manifest), seen.stamps
            self._version += len(own)
            if self._share is not None:
                apply(self._share.seen, delta.below(WORKSPACE))
                if put:
                    self._share.workspace.wrote(put, self._order.order_id, appends[-1].events)
                self._refused = self._share.error(refused) if refused else None

        return FilesLeft(appends, blobs, stored)

    async def catch_up(self, conflict: VersionConflict) -> None:
        """Take in what other orders of the employee wrote into its workspace meanwhile."""
        stream = conflict.facts.get("stream")
        if stream == self._stream:
            raise StaleWriter(f"Somebody else works on {self._order.order_id} now.", stream=self._stream) from conflict
        if self._share is None or stream != self._share.workspace.stream:
            raise conflict
        workspace = self._share.workspace
        for event in await self._store.ledger.read(workspace.stream, after_version=workspace.version):
            workspace.take_in(event)

    def problem(self, *, done: bool) -> Problem | None:
        """Return why the order must not go on, or must not count as done."""
        error = self._refused or (None if done else self._mismatch)
        return None if error is None else error.problem()

    async def _look(self) -> Look:
        if not self._kept and not _holds_anything(self._folder):
            return Look()  # most steps leave nothing, and a thread would take longer than they do
        return await asyncio.to_thread(self._looking.look, dict(self._kept), self._stamps)

    async def _read(self) -> None:
        """Fold the stream; an order whose employee owns a workspace works on that as it stood when the order began."""
        events = await self._store.ledger.read(self._stream)
        if self._order.workspace is not None:
            events = events or [await self._take()]
            await self._join(events[0])
        for event in events:
            self._take_in(event)
        refusals = [event for event in events if event.type == REFUSED]
        if refusals and self._share is not None and not await self._ended_after(refusals[-1]):
            last: Any = refusals[-1].data
            self._refused = self._share.error(last["files"])

    async def _take(self) -> Event:
        stream = stream_of(self._order.organisation, self._order.employee)
        now = await read_workspace(self._store, stream)
        event = NewEvent(TAKEN, {"workspace": stream, "version": now.version})
        (stored,) = await self._store.ledger.append(self._append(self._stream, [event], 0))
        return stored

    async def _join(self, taken: Event) -> None:
        told: Any = taken.data
        base = await read_workspace(self._store, told["workspace"], at=told["version"])
        now = await read_workspace(self._store, told["workspace"])
        self._kept = {f"{WORKSPACE}/{path}": entry for path, entry in base.manifest.items()}
        most, grant = self._limits, self._order.workspace
        assert grant is not None
        own = Limits(
            min(most.files, grant.files or most.files), most.file_bytes,
            min(most.total_bytes, grant.total_bytes or most.total_bytes),
        )  # fmt: skip
        self._share = Share(self._order, own, now, base.manifest)

    def _take_in(self, event: Event) -> None:
        self._version = event.stream_version
        data: Any = event.data or {}
        if event.type == CHANGED:
            delta = delta_in(data)
            apply(self._kept, delta)
            if self._share is not None:
                apply(self._share.seen, delta.below(WORKSPACE))
        elif event.type == REFUSED and self._share is not None:
            self._share.give_way(data["files"])
            self._give_way(data["files"])

    def _give_way(self, refused: Sequence[Told]) -> None:
        for told in refused:
            self._kept.pop(f"{WORKSPACE}/{told['path']}", None)
            if "there" in told:
                self._kept[f"{WORKSPACE}/{told['path']}"] = Entry.from_data(told["there"])

    async def _ended_after(self, refusal: Event) -> bool:
        """Whether the order was ended with that refusal, so that going on now was asked for by somebody who knows."""
        events = await self._store.ledger.read(str(self._order.order_id))
        return any(event.type == "order.finished" and event.position > refusal.position for event in events)

    async def _fill(self) -> None:
        if not self._kept:
            return
        missing = await fill(self._folder, self._kept, self._store.blobs) or await self._compared()
        if missing is not None:
            path, why = missing
            self._mismatch = WorkspaceMismatch(
                f"{path}, which an earlier step of {self._order.order_id} left in its slot, cannot be put into another "
                f"slot: {why}. No step was begun on files other than those it would have found, and what is done is "
                "kept. `silicon evidence verify` looks at all files of the order; where this one stays lost, hand the "
                "goal in anew.",
                order_id=str(self._order.order_id), path=path,
            )  # fmt: skip

    async def _compared(self) -> tuple[str, str] | None:
        """Return the first path at which the folder is not what the manifest says, if there is one."""
        seen = await self._look()
        self._stamps = seen.stamps
        delta = between(self._kept, seen.manifest)
        odd = [path for path in (*delta.changed, *delta.removed) if self._kept.get(path, FOLDER).left is None]
        return (min(odd), "it is not there as it was left") if odd else None

    def _append(self, stream: str, events: Sequence[NewEvent], version: int) -> Append:
        order = self._order
        return Append(
            stream=stream, events=events, expected_version=version, organisation=order.organisation,
            source=f"/organisation/{order.organisation}/cluster/files", execution_id=order.execution_id,
            trace_id=order.trace_id, leases=self._leases,
        )  # fmt: skip


def _holds_anything(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(not entry.name.startswith(".") for entry in entries)
    except OSError:
        return False
