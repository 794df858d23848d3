"""The blackboard kept in the ledger: each key is a stream, so compare-and-set is the append's expected version."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contracts import Event, ExecutionId, Json, Name, StepId
from runtime.blackboard.port import Entry
from runtime.canonical import clean, to_bytes
from runtime.errors import InvalidArguments
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings.groups import BlackboardSettings

WRITTEN = "entry.written"
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


class LedgerBlackboard:
    """The port `Blackboard` for one execution. A new value replaces the old one; a conflict is refused.

    What was read is remembered, and the next read asks the ledger only for what came after it.
    """

    def __init__(
        self,
        ledger: Ledger,
        execution_id: ExecutionId,
        *,
        organisation: Name,
        settings: BlackboardSettings,
        trace_id: str | None = None,
    ) -> None:
        self._ledger = ledger
        self._execution_id = execution_id
        self._organisation = organisation
        self._settings = settings
        self._trace_id = trace_id
        self._seen: dict[str, Entry] = {}

    async def read(self, key: str) -> Entry | None:
        """Return the value now, or None when the key was never written."""
        seen = self._seen.get(key)
        news = await self._ledger.read(self._stream(key), after_version=seen.version if seen else 0)
        if news:
            seen = self._seen[key] = _entry(key, news[-1])
        return seen

    async def entries(self) -> Mapping[str, Entry]:
        """Return all values, by key."""
        prefix = self._stream("")
        streams = await self._ledger.streams("blackboard", organisation=self._organisation, prefix=prefix)
        found = {}
        for key in sorted(stream.removeprefix(prefix) for stream in streams):
            entry = await self.read(key)
            if entry is not None:
                found[key] = entry
        return found

    def write(self, key: str, value: Json, *, expected_version: int, employee: Name, step: StepId) -> Append:
        """Return the append that writes the value; see the port."""
        if not _KEY.fullmatch(key):
            raise InvalidArguments(
                f"{key!r} is not a key of the blackboard: up to 64 letters, digits, `_`, `-` and `.`, a letter first.",
                key=key[:100],
            )
        cleaned = clean(value)
        self._refuse_large(key, cleaned)
        return Append(
            stream=self._stream(key),
            events=[NewEvent(WRITTEN, {"key": key, "value": cleaned, "employee": employee, "step": step})],
            expected_version=expected_version,
            organisation=self._organisation,
            source=f"/organisation/{self._organisation}/{employee}",
            execution_id=self._execution_id,
            trace_id=self._trace_id,
        )

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

    def _stream(self, key: str) -> str:
        return f"blackboard/{self._execution_id.ulid}/{key}"


def _entry(key: str, event: Event) -> Entry:
    data = event.data
    if data is None:  # erased: the value is gone, its place stays
        return Entry(key, None, event.stream_version, "erased", "erased")
    return Entry(key, data["value"], event.stream_version, str(data["employee"]), str(data["step"]))
