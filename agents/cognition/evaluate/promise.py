"""What was promised on a card against what the metric says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import TypeAdapter

from contracts import CardId, Confidence, Expectation, Json, Name, Sha256
from runtime.canonical import clean

_PART, _DECIMALS, _GIVEN_WHOLE = 1e-9, 2e-9, 1e-6


class Kept(StrEnum):
    """Three values: what cannot be read was neither kept nor broken."""

    KEPT = "kept"
    """The change lies in the promised interval."""
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Judged:
    """One promise, judged once."""

    card: CardId
    option: str
    """The option whose promise it is: the one chosen, or doing nothing where nothing was chosen."""
    how: str
    """How the card ended: `approved`, `denied`, `expired`."""
    skill: Name | None
    label: Confidence | None
    """The label on the card, as it was shown."""
    expectation: Expectation
    kept: Kept
    why: str | None
    """Reason of an inconclusive one: `no_value`, `definition_changed`, `metric_gone`."""
    value: float | None
    n: int
    change: float | None
    """What the metric changed by, from the promise's baseline."""
    at: datetime
    """What was known then, UTC."""
    version: Sha256 | None = None
    """Hash of the definition that was read."""

    def to_json(self) -> dict[str, Json]:
        """Return it as an event holds it."""
        told = clean(
            {
                "card": self.card, "option": self.option, "how": self.how, "skill": self.skill, "label": self.label,
                "expectation": self.expectation.to_json(), "kept": self.kept, "why": self.why, "value": self.value,
                "n": self.n, "change": self.change, "at": self.at, "version": self.version,
            }
        )  # fmt: skip
        assert isinstance(told, dict)
        return told

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Judged:
        """Return what an event holds."""
        label, expectation = data.get("label"), data["expectation"]
        assert isinstance(expectation, dict)
        return cls(
            card=CardId(str(data["card"])), option=str(data["option"]), how=str(data["how"]),
            skill=_text(data.get("skill")), label=None if label is None else Confidence(str(label)),
            expectation=Expectation.read(expectation), kept=Kept(str(data["kept"])), why=_text(data.get("why")),
            value=_NUMBER.validate_python(data.get("value")), n=_COUNT.validate_python(data.get("n", 0)),
            change=_NUMBER.validate_python(data.get("change")), at=_TIME.validate_python(data["at"]),
            version=_text(data.get("version")),
        )  # fmt: skip


def judge(expectation: Expectation, value: float | None, version: Sha256) -> tuple[Kept, str | None]:
    """Return whether the promise was kept, and why that cannot be said.

    A gap is no change, and under another definition of the metric nothing can be compared.
    """
    if version != expectation.metric_version:
        return Kept.INCONCLUSIVE, "definition_changed"
    if value is None:
        return Kept.INCONCLUSIVE, "no_value"
    change, slack = value - expectation.baseline, _rounding(expectation, value)
    within = expectation.low - slack <= change <= expectation.high + slack
    return (Kept.KEPT if within else Kept.BROKEN), None


def _rounding(expectation: Expectation, value: float) -> float:
    """Return by how much a change may lie off for no other reason than that explanations give nine decimals.

    What is below a millionth they give whole.
    """
    largest = max(map(abs, (expectation.baseline, expectation.low, expectation.high, value)))
    return _PART * largest + (_DECIMALS if largest > _GIVEN_WHOLE else 0.0)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_NUMBER: TypeAdapter[float | None] = TypeAdapter(float | None)
_COUNT: TypeAdapter[int] = TypeAdapter(int)
_TIME: TypeAdapter[datetime] = TypeAdapter(datetime)
