"""What a face needs of the product that keeps a whole ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from contracts import ExecutionId
from runtime.keeping import BackupMade, Exported, Hold, Imported, Pruned, Restored


class Archives(Protocol):
    """The part of `Application` for the operator: copies, files and what is taken away. Runs go on meanwhile."""

    async def back_up(self, path: Path) -> BackupMade:
        """Write a copy of the whole ledger into a new file and audit it.

        Raises:
            InvalidArguments: there is a file of that name, or none can be made there.
        """
        ...

    async def restore(self, path: Path) -> Restored:
        """Put a backup into the database, which has to be empty; its tables are made where there are none.

        Raises:
            BackupUnfit: the file is no backup, of another schema, or not as it was written.
            TargetInUse: the database is not empty.
        """
        ...

    async def prune(self, *, days: float | None, dry: bool, compact: bool) -> Pruned:
        """Take away for good what is old; with `dry` only tell what would go.

        Args:
            days: how long an execution is kept after it ended; None takes the setting `retention.executions_days`.
            compact: whether an embedded file gives back the room that is free in it.
        """
        ...

    async def holds(self) -> Sequence[Hold]:
        """Return the legal holds that stand, oldest first."""
        ...

    async def hold(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        """Let nothing of the execution be pruned from now on.

        Raises:
            HoldRefused: it is under a hold already.
            PermissionRefused: this person may only look.
        """
        ...

    async def release(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        """End the hold and return it as it stood.

        Raises:
            HoldRefused: there is none.
            PermissionRefused: this person may only look.
        """
        ...

    async def export_execution(self, execution_id: ExecutionId, path: Path) -> Exported:
        """Write one execution, as it stands now, into a new file.

        Raises:
            ExportUnfit: what the ledger holds of it is not as it was written.
            InvalidArguments: there is a file of that name, or none can be made there.
        """
        ...

    async def import_execution(self, path: Path) -> Imported:
        """Take an exported execution in, to be looked at; it never runs here, and what it asks people is withdrawn.

        Raises:
            ArchiveRefused: the file is no export, damaged, of an unknown version, or holds what no export holds.
            AlreadyHere: the execution is in this ledger already, or was pruned from it.
        """
        ...
