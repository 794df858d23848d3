"""One order's part in the workspace of its employee, which other orders of that employee write as well.

An order works on the workspace as it stood when the order began. File by file, what it changed goes into the workspace
with every step; a file that another order wrote since this one saw it stays as the other left it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cluster.workspaces.errors import WorkspaceConflict, WorkspaceRefused
from cluster.workspaces.looking import Limits
from cluster.workspaces.manifest import (
    HARMLESS,
    TOO_MANY,
    TOO_MUCH,
    Delta,
    Entry,
    Manifest,
    apply,
)
from cluster.workspaces.owned import Workspace
from contracts import Json, TaskOrder
from runtime.errors import SiliconError

CONFLICT = "conflict"
Told: TypeAlias = Mapping[str, Any]
"""A file that was not put into the workspace, as the event tells it: `path`, `why`, `by`, and what is `there`."""


@dataclass(slots=True)
class Share:
    """What an order saw and wrote of a workspace."""

    order: TaskOrder
    limits: Limits
    workspace: Workspace
    """As it is known here, others' writes included."""
    seen: Manifest = field(default_factory=dict)
    """Path → what this order took from there, or put there, last."""

    def put(self, delta: Delta) -> tuple[Delta, list[Told]]:
        """Return what goes into the workspace of what this order changed, and what does not."""
        theirs, why = self.workspace.manifest, dict[str, str]()
        mine: dict[str, Entry | None] = {**dict.fromkeys(delta.removed), **delta.changed}
        for path, entry in mine.items():
            if entry is not None and entry.left is not None and entry.left not in HARMLESS:
                why[path] = entry.left
            elif theirs.get(path) not in (entry, self.seen.get(path)):
                why[path] = CONFLICT
        put = _without(mine, theirs, but=why)
        whole = dict(theirs)
        apply(whole, put)
        if put.changed and (over := self._over_limits(whole)) is not None:
            why.update(dict.fromkeys(put.changed, over))
            put = _without(mine, theirs, but=why)
        return put, [self._told(path, why[path]) for path in sorted(why)]

    def give_way(self, refused: Sequence[Told]) -> None:
        """Go on with what stands in the workspace where this order's own was refused."""
        for told in refused:
            self.seen.pop(told["path"], None)
            if "there" in told:
                self.seen[told["path"]] = Entry.from_data(told["there"])

    def error(self, refused: Sequence[Told]) -> SiliconError:
        """Return the error that tells why the order stops, after the first of the files."""
        path, why, employee = refused[0]["path"], refused[0]["why"], self.order.employee
        facts: dict[str, Json] = {"path": path, "employee": employee, "files": len(refused)}
        if why == CONFLICT:
            other = refused[0].get("by") or "another order"
            return WorkspaceConflict(
                f"{other} wrote {path} in the workspace of {employee} while {self.order.order_id} worked on it. What "
                "the other one wrote stands in the workspace; what this order made of it is kept as its evidence. Look "
                "at both with `silicon show ORDER --evidence`; `silicon resume` goes on with what stands in the "
                "workspace.",
                **facts, other=other,
            )  # fmt: skip
        most = self.limits
        return WorkspaceRefused(
            f"{path} cannot be kept in the workspace of {employee}: {why}. A workspace holds plain files, here "
            f"{most.files:,} at most, {most.file_bytes:,} bytes each and {most.total_bytes:,} together (org.yaml "
            "`workspace`, settings files.count, files.total_mib, slot.file_mib).",
            **facts, why=why,
        )  # fmt: skip

    def _told(self, path: str, why: str) -> Told:
        there = self.workspace.manifest.get(path)
        by = self.workspace.by.get(path) if why == CONFLICT else None
        stands = {} if there is None else {"there": there.to_data(path)}
        return {"path": path, "why": why, **({"by": by} if by else {}), **stands}

    def _over_limits(self, whole: Manifest) -> str | None:
        if len(whole) > self.limits.files:
            return TOO_MANY
        return TOO_MUCH if sum(entry.size for entry in whole.values()) > self.limits.total_bytes else None


def _without(mine: Mapping[str, Entry | None], theirs: Manifest, *, but: Collection[str]) -> Delta:
    """Return what changes in the workspace, without the paths in `but` and what is the same there already."""
    wanted = {path: entry for path, entry in mine.items() if path not in but and theirs.get(path) != entry}
    changed = {path: entry for path, entry in wanted.items() if entry is not None and entry.left is None}
    return Delta(changed, {path: theirs[path] for path, entry in wanted.items() if entry is None})
