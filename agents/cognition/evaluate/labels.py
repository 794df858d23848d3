"""The corrections of labels in force, in the ledger: each change is an event, and is shown on the cards that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from agents.cognition.evaluate.calibration import Correction, Reliability
from contracts import Confidence, Event, Json, Name
from runtime.canonical import clean
from runtime.ledger.port import Append, Ledger, NewEvent

_NO_SKILL = "no-skill"


@dataclass(frozen=True, slots=True)
class Standing:
    """How one label of a skill stands: corrected, or used as it is again after it was."""

    label: Confidence
    to: Confidence
    """What is shown in its place; the label itself once it was restored."""
    kept: int
    n: int
    promised: float
    since: datetime

    @property
    def corrected(self) -> bool:
        """Whether something else is shown in its place."""
        return self.to is not self.label


class LedgerLabels:
    """The labels of one organisation."""

    def __init__(self, ledger: Ledger, organisation: Name) -> None:
        self._ledger = ledger
        self._organisation = organisation

    async def of(self, skill: Name | None) -> Mapping[Confidence, Standing]:
        """Return the labels of a skill that were ever corrected, as they stand."""
        found: dict[Confidence, Standing] = {}
        for label in Confidence:
            events = await self._ledger.read(self._stream(skill, label))
            if events:
                found[label] = _standing(events[-1], label)
        return found

    async def settle(self, rows: Sequence[Reliability], due: Sequence[Correction]) -> list[Standing]:
        """Bring the labels in force to what is due; return those that changed. Twice does no harm."""
        changed = []
        wanted = {(each.skill, each.label): each for each in due}
        for row in rows:
            events = await self._ledger.read(self._stream(row.skill, row.label))
            now = _standing(events[-1], row.label) if events else None
            want = wanted.get((row.skill, row.label))
            to = want.to if want else row.label
            if to is (now.to if now else row.label):
                continue
            stored = await self._ledger.append(self._append(row, to, len(events)))
            changed.append(_standing(stored[-1], row.label))
        return changed

    def _append(self, row: Reliability, to: Confidence, version: int) -> Append:
        type_ = "label.restored" if to is row.label else "label.corrected"
        facts = clean({**asdict(row), "to": to})
        assert isinstance(facts, dict)
        return Append(
            stream=self._stream(row.skill, row.label),
            events=(NewEvent(type_, facts),),
            expected_version=version,
            organisation=self._organisation,
            source=f"/organisation/{self._organisation}/evaluation",
        )

    def _stream(self, skill: Name | None, label: Confidence) -> str:
        return f"label/{self._organisation}/{skill or _NO_SKILL}/{label.value}"


def _standing(event: Event, label: Confidence) -> Standing:
    data: Mapping[str, Json] = event.data or {}
    return Standing(
        label, Confidence(str(data.get("to", label))), int(str(data.get("kept", 0))), int(str(data.get("n", 0))),
        float(str(data.get("promised", 0.0))), event.time,
    )  # fmt: skip
