"""Claims: the lease of an execution, taken by one, taken over from the dead, given back."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import replace

from contracts import ExecutionId
from runtime.clock import Clock
from runtime.errors import ExecutionBusy, LedgerError
from runtime.executor.holder import is_gone
from runtime.ledger.port import Lease, Store
from runtime.settings.groups import ExecutorSettings

_log = logging.getLogger(__name__)


class Claims:
    """What this process claims. `holder` names it; two claims of one process are strangers to each other as well."""

    def __init__(self, store: Store, clock: Clock, settings: ExecutorSettings, holder: str) -> None:
        self._leases = store.leases
        self._clock = clock
        self._settings = settings
        self._holder = holder
        self._left: list[Lease] = []

    async def claim(self, execution_id: ExecutionId) -> Lease:
        """Return the lease of the execution; one whose holder died on this machine is taken over at once.

        Raises:
            ExecutionBusy: somebody else holds it.
        """
        lease = await self._acquire(execution_id)
        if lease is not None:
            return lease
        held = next(iter(await self._leases.live(execution_id)), None)
        if held is not None and is_gone(held.holder):
            await self._leases.release(held)
            return replace(await self.claim(execution_id), taken_over=True)
        raise self._busy(execution_id, held)

    async def claim_free(self, execution_id: ExecutionId) -> Lease | None:
        """Return the lease of the execution as `claim` does, or None while somebody else holds it."""
        try:
            return await self.claim(execution_id)
        except ExecutionBusy:
            return None

    async def _acquire(self, execution_id: ExecutionId) -> Lease | None:
        holder = f"{self._holder}/{secrets.token_hex(4)}"
        acquiring = asyncio.ensure_future(self._leases.acquire(execution_id, holder, self._settings.lease_s))
        try:
            return await asyncio.shield(acquiring)
        except asyncio.CancelledError:  # stopped while the claim was on its way: nobody would give it back
            lease = await acquiring
            if lease is not None:
                await self.release(lease)
            raise

    async def release(self, lease: Lease) -> None:
        """Give the lease back; where the ledger is away, it is remembered for `release_left` and runs out otherwise."""
        try:
            await self._leases.release(lease)
        except LedgerError as error:
            self._left.append(lease)
            _log.warning("the lease %s could not be given back and will run out: %s", lease.name, error)

    async def release_left(self) -> None:
        """Give back what could not be given back before."""
        while self._left:
            await self._leases.release(self._left[-1])
            self._left.pop()

    def _busy(self, execution_id: ExecutionId, held: Lease | None) -> ExecutionBusy:
        who = "another process" if held is None else held.holder
        until = self._clock.now() if held is None else held.expires_at
        left_s = max(0, round((until - self._clock.now()).total_seconds()))
        return ExecutionBusy(
            f"{execution_id} is being worked on by {who}, whose lease runs for another {left_s} s and may be renewed. "
            "Follow it with `silicon show`, or wait until it is done.",
            execution_id=execution_id,
            holder=who,
            until=until.isoformat(timespec="seconds"),
        )
