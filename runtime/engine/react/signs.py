"""Signs of life of a request that takes its time: that it waits for its turn, or that the model is being asked.

They are only streamed, outside of the ledger's chain: what comes of the request is an event of the ledger, and that one
takes their place. An answer that comes soon has none, so that a step costs what it did.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from runtime.engine.react.talk import Talk
from runtime.ledger.port import NewEvent
from runtime.model.course import ASKED
from runtime.model.port import ModelRequest, Named

TOLD_AFTER_S = 2.0
"""How long something goes on before it is told."""


class Signs:
    """Of one request: what it is at, and since when."""

    def __init__(self, talk: Talk, request: ModelRequest) -> None:
        self._talk = talk
        model: object = talk.run.model
        self._who = {"role": request.role, "model": model.name_of(request.role) if isinstance(model, Named) else ""}
        self._what = ASKED
        self._since: datetime = talk.run.clock.now()
        self._version = talk.run.view.version
        """Of the order's stream when the request was made: a later event of the same step tells what came of it."""
        self._timer: asyncio.TimerHandle | None = None
        self._told = False

    def now_at(self, what: str) -> None:
        """Begin with something, or go over to it; what was told before is corrected at once."""
        self.end()
        self._what, self._since = what, self._talk.run.clock.now()
        self._timer = asyncio.get_running_loop().call_later(0.0 if self._told else TOLD_AFTER_S, self._tell)

    def end(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self) -> None:
        run, self._told = self._talk.run, True
        data: dict[str, Any] = self._talk.event(**self._who, since=self._since.isoformat(), version=self._version)
        run.store.fragments.write(
            run.journal.stream, NewEvent(self._what, data), execution_id=run.order.execution_id
        )  # fmt: skip
