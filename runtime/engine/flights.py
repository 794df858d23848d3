"""Single flight: identical reads of one order that are in progress at the same time are one call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from contracts import Json
from runtime.canonical import clean, to_bytes
from runtime.capabilities.port import CallContext, CallResult, Waiting

Answer = CallResult | Waiting


@dataclass(slots=True, eq=False)
class _Flight:
    """A call in progress. `landed` is made by the first who joins: most fly alone, and pay nothing for this."""

    arguments: Mapping[str, Json]
    timeout_s: float | None
    key: str
    landed: asyncio.Future[Answer] | None = None


class Flights:
    """The reads of one order in progress."""

    def __init__(self) -> None:
        self._flying: dict[str, list[_Flight]] = {}

    async def fly(
        self,
        use: str,
        arguments: Mapping[str, Json],
        context: CallContext,
        call: Callable[[], Awaitable[Answer]],
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        """Return what the call gives, or what an identical one gives that is in progress: same tool, arguments, time.

        Data is shared, and so is a failure. What belongs to the step that called is not: whoever joined a call that
        waits for people, or that left files or facts, makes its own call then, and so does everybody who joined a call
        that was cancelled.
        """
        task = asyncio.current_task()
        assert task is not None
        asked_to_stop = task.cancelling()
        while (flight := self._find(use, arguments, timeout_s)) is not None:
            try:
                answer = await _landing(flight)
            except asyncio.CancelledError:
                if task.cancelling() > asked_to_stop:
                    raise
                continue  # the call was stopped, not whoever joined it
            if isinstance(answer, CallResult) and not (answer.files or answer.events or answer.appends):
                return _shared(answer, context, flight.key)
            return await call()
        return await self._lead(use, _Flight(arguments, timeout_s, context.key), call)

    async def _lead(self, use: str, flight: _Flight, call: Callable[[], Awaitable[Answer]]) -> Answer:
        self._flying.setdefault(use, []).append(flight)
        try:
            answer = await call()
        except BaseException as error:
            self._land(use, flight)
            if flight.landed is not None and not flight.landed.done():
                if isinstance(error, Exception):
                    flight.landed.set_exception(error)
                    flight.landed.exception()  # whoever joined is told; if nobody is left, nobody warns
                else:
                    flight.landed.cancel()
            raise
        self._land(use, flight)
        if flight.landed is not None and not flight.landed.done():
            flight.landed.set_result(answer)
        return answer

    def _land(self, use: str, flight: _Flight) -> None:
        flying = self._flying[use]
        flying.remove(flight)
        if not flying:
            del self._flying[use]

    def _find(self, use: str, arguments: Mapping[str, Json], timeout_s: float | None) -> _Flight | None:
        for flight in self._flying.get(use, ()):
            alike = flight.timeout_s == timeout_s and flight.arguments == arguments
            if alike and _bytes(flight.arguments) == _bytes(arguments):  # 1, 1.0 and True are equal, not the same
                return flight
        return None


async def _landing(flight: _Flight) -> Answer:
    if flight.landed is None:
        flight.landed = asyncio.get_running_loop().create_future()
    return await asyncio.shield(flight.landed)


def _bytes(arguments: Mapping[str, Json]) -> bytes:
    return to_bytes(clean(arguments))


def _shared(answer: CallResult, context: CallContext, key: str) -> CallResult:
    """Return the answer with evidence that names the step it is used in, and the call that it was shared with."""
    items = [
        item.model_copy(update={"step": context.step, "facts": {**item.facts, "shared_with": key}})
        for item in answer.evidence
    ]
    seen = answer.seen and replace(answer.seen, facts={**answer.seen.facts, "shared_with": key})
    return replace(answer, evidence=items, seen=seen)
