"""The blackboard kept in the ledger: each key is a stream, so compare-and-set is the append's expected version."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from itertools import count
from typing import Any

from contracts import ExecutionId, Json, Name, OrderId, StepId
from runtime.blackboard.cache import BoardCache, following
from runtime.blackboard.folding import WRITTEN, in_conflict, version_of
from runtime.blackboard.port import Entry, Version
from runtime.blackboard.rules import KEY, REPLACE, KeyRule, merged
from runtime.bus.port import Bus
from runtime.canonical import clean, to_bytes
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings.groups import BlackboardSettings

WAIT_FIRST_S, WAIT_MOST_S = 0.002, 0.25
"""Bounds of the wait of a writer who came second; each time it may be twice as long."""
_PATTERN = re.compile(r"[A-Za-z0-9_.*-]+")


class LedgerBlackboard:
    """The port `Blackboard` for one execution.

    What was read is remembered, so that a read asks the ledger for one event, however often the key was written. A rule
    travels with each write, so that whoever reads needs no organisation; and so do the versions it is in conflict with.
    """

    def __init__(
        self,
        ledger: Ledger,
        execution_id: ExecutionId,
        *,
        organisation: Name,
        settings: BlackboardSettings,
        trace_id: str | None = None,
        rules: Mapping[str, KeyRule] | None = None,
    ) -> None:
        self._ledger = ledger
        self._execution_id = execution_id
        self._organisation = organisation
        self._settings = settings
        self._trace_id = trace_id
        self._rules = rules or {}
        self._prefix = f"blackboard/{execution_id.ulid}/"
        self._cache = BoardCache(ledger, self._prefix, organisation)

    async def read(self, key: str, *, cached: bool = False) -> Entry | None:
        """Return the value now, or None when the key was never written."""
        return await self._cache.read(key, cached=cached)

    async def entries(self) -> Mapping[str, Entry]:
        """Return all values, by key; see the port."""
        return await self._cache.entries()

    async def versions(self, key: str) -> Sequence[Version]:
        """Return every write of the key, in order."""
        return [version_of(key, event) for event in await self._ledger.read(self._prefix + key)]

    def write(
        self,
        key: str,
        value: Json,
        *,
        expected_version: int,
        employee: Name,
        step: StepId,
        order: OrderId | None = None,
        unseen: bool = False,
    ) -> Append:
        """Return the append that writes the value; see the port."""
        if not KEY.fullmatch(key):
            raise InvalidArguments(
                f"{key!r} is not a key of the blackboard: up to 64 letters, digits, `_`, `-` and `.`, a letter first.",
                key=key[:100],
            )
        rule = self._rules.get(key, KeyRule())
        cleaned = clean(value)
        rule.require(key, cleaned)
        self._refuse_large(key, cleaned)
        self._refuse_unmergeable(key, rule, cleaned, expected_version)
        data: dict[str, Any] = {"key": key, "value": cleaned, "employee": employee, "step": step}
        if order is not None:
            data["order"] = str(order)
        if rule.merge != REPLACE:
            data["rule"] = rule.merge
        if unseen and expected_version > 0:
            data["unseen"] = True
            known = self._cache.known(key, version=expected_version)
            if rule.merge == REPLACE and known is not None:
                writer = (None if order is None else str(order), employee, step)
                data["conflicts"] = [each.version for each in in_conflict(*known, writer)]
        return Append(
            stream=self._prefix + key,
            events=[NewEvent(WRITTEN, data)],
            expected_version=expected_version,
            organisation=self._organisation,
            source=f"/organisation/{self._organisation}/{employee}",
            execution_id=self._execution_id,
            trace_id=self._trace_id,
        )

    async def update(
        self,
        key: str,
        change: Callable[[Json], Json],
        *,
        employee: Name,
        step: StepId,
        order: OrderId | None = None,
    ) -> Entry:
        """Write what `change` makes of the value there, however many others do so; see the port."""
        known = self._cache.known(key)
        entry = known[0] if known else await self.read(key)
        for attempt in count(1):
            version, value = (entry.version, entry.value) if entry else (0, None)
            append = self.write(key, change(value), expected_version=version, employee=employee, step=step, order=order)
            try:
                for event in await self._ledger.append(append):
                    self._cache.tell(event)
            except VersionConflict:
                await asyncio.sleep(random.uniform(0, min(WAIT_MOST_S, WAIT_FIRST_S * 2**attempt)))  # noqa: S311
                entry = await self.read(key)
            else:
                break
        found = self._cache.known(key)
        assert found is not None
        return found[0]

    def subscribe(self, pattern: str, *, bus: Bus, after: int) -> AsyncGenerator[Version, None]:
        """Yield the writes after a position of the keys that fit `pattern`; see the port."""
        if not _PATTERN.fullmatch(pattern):
            raise ValueError(f"{pattern!r} fits no key of the blackboard; it looks like best, draft.* or *.")
        wanted = re.compile(".*".join(map(re.escape, pattern.split("*"))))

        async def writes() -> AsyncGenerator[Version, None]:
            async with aclosing(bus.subscribe(WRITTEN, after=after)) as events:
                async for event in events:
                    key = event.subject.removeprefix(self._prefix)
                    if event.subject.startswith(self._prefix) and wanted.fullmatch(key):
                        yield version_of(key, event)

        return writes()

    def following(self, bus: Bus) -> AbstractAsyncContextManager[None]:
        """Keep what this process knows in step with all others, so that `read(…, cached=True)` costs no query."""
        return following(self._cache, bus, self._ledger)

    def _refuse_unmergeable(self, key: str, rule: KeyRule, value: Json, expected_version: int) -> None:
        """Refuse what the rule cannot take; where what stands there is not known, the value is held against nothing."""
        if rule.merge == REPLACE:
            return
        known = self._cache.known(key, version=expected_version)
        self._refuse_large(key, merged(key, rule.merge, known[0].value if known else None, value))

    def _refuse_large(self, key: str, value: Json) -> None:
        size, most = len(to_bytes(value)), self._settings.value_kib * 1_024
        if size > most:
            raise InvalidArguments(
                f"The value for {key} on the blackboard takes {size:,} bytes, and at most {most:,} are kept there. "
                "Store it as a file or result and write its reference instead, or raise `blackboard.value_kib`.",
                key=key,
                size=size,
                most=most,
            )
