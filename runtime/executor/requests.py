"""What people asked of an execution while it is worked on: to stop, as a whole or in one branch."""

from __future__ import annotations

import logging

from contracts import Event
from runtime.errors import LedgerUnavailable
from runtime.executor.lookout import Lookout
from runtime.executor.states import BRANCH_CANCEL_REQUESTED, CANCEL_REQUESTED, FINISHED
from runtime.executor.view import ExecutionView
from runtime.ledger.port import Ledger

_log = logging.getLogger(__name__)


class Requests:
    """The requests to stop one execution, whoever works on it."""

    def __init__(self, ledger: Ledger, lookout: Lookout, view: ExecutionView) -> None:
        self.cancelled = view.cancel_requested_by is not None
        self.cancelled_branches = set(view.cancelled_branches)
        self._ledger = ledger
        self._lookout = lookout
        self._stream = str(view.execution_id)
        self._version = view.version

    async def heed(self) -> None:
        """Take in every request; return once the whole is to stop."""
        async with self._lookout.over(self._stream) as told:
            while not self.cancelled:
                await told.wait()
                told.clear()
                await self._read()

    async def _read(self) -> None:
        try:
            news = await self._ledger.read(self._stream, after_version=self._version)
        except LedgerUnavailable as error:
            _log.warning("requests to cancel %s could not be read: %s", self._stream, error)
            return
        for event in news:
            self._version = event.stream_version
            self._take_in(event)

    def _take_in(self, event: Event) -> None:
        if event.type in (CANCEL_REQUESTED, FINISHED):
            self.cancelled = True
        elif event.type == BRANCH_CANCEL_REQUESTED and event.data is not None:
            self.cancelled_branches.add(str(event.data["branch"]))
