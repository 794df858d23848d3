"""Self-evaluation: how often labels of confidence came true, what was promised, and what the organisation lacks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.views_calibration import GapRow, LabelRow, PromiseRow
from contracts import CardId, Confidence, Expectation, Json, Name

routes = APIRouter(prefix="/calibration", tags=["calibration"])


class LabelShown(ApiModel):
    """A label of a skill, and how often what was promised under it came true."""

    skill: Name | None = None
    """The skill; absent for cards without one."""
    label: Confidence
    """The label that the statistics earned."""
    shown: Confidence
    """What cards show in its place; never stronger."""
    promised: float
    """How often it should come true."""
    n: int
    """Promises that could be judged."""
    kept: int
    """Those that came true."""
    inconclusive: int
    """Promises that could not be judged; they count neither way."""
    share: float | None = None
    """Share that came true; absent where nothing was judged."""
    low: float | None = None
    """Lower end of Wilson's interval of the share."""
    high: float | None = None
    """Upper end of it."""

    @classmethod
    def of(cls, row: LabelRow) -> LabelShown:
        """Return what is shown of a label."""
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class PromiseShown(ApiModel):
    """One promise of a card, judged once its period was over."""

    card: CardId
    """The card."""
    option: str
    """The option whose promise it is."""
    how: str
    """How the card ended."""
    skill: Name | None = None
    """The skill that raised the card."""
    label: Confidence | None = None
    """The label on the card."""
    expectation: Expectation
    """What was promised."""
    kept: str
    """`kept`, `broken` or `inconclusive`."""
    why: str | None = None
    """Reason of an inconclusive one."""
    value: float | None = None
    """What the metric was; absent means missing, which is not zero."""
    n: int
    """Rows that it rests on."""
    change: float | None = None
    """What it changed by."""
    at: AwareDatetime
    """UTC; what was known then."""

    @classmethod
    def of(cls, row: PromiseRow) -> PromiseShown:
        """Return what is shown of a promise."""
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class GapShown(ApiModel):
    """Something that fails, or is handed to people, again and again."""

    kind: str
    """`failure` or `hand_over`."""
    about: str
    """What is alike in its cases."""
    cases: tuple[dict[str, Json], ...] = ()
    """The executions that show it."""
    draft: str
    """The beginning of a SKILL.md."""
    card: CardId
    """The card that proposes the skill."""
    state: str
    """How the card stands."""
    at: AwareDatetime
    """UTC; when it was proposed."""

    @classmethod
    def of(cls, row: GapRow) -> GapShown:
        """Return what is shown of a gap."""
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class CalibrationShown(ApiModel):
    """How well an organisation knows what it says."""

    organisation: Name
    """Whose."""
    labels: tuple[LabelShown, ...]
    """The reliability table."""
    brier: float | None = None
    """Mean square of promised chance minus what happened; 0 is perfect. Absent where nothing was judged."""
    promises: tuple[PromiseShown, ...]
    """Oldest first."""
    gaps: tuple[GapShown, ...]
    """Oldest first."""


@routes.get("", dependencies=[query_of("organisation")])
async def calibration(
    desk: AtDesk, asking: Asking, organisation: Annotated[Name | None, Query(description="Whose promises.")] = None
) -> CalibrationShown:
    """Tell how often labels of confidence came true, with every promise that was judged and every gap proposed.

    Who sees departments only is told of the skills that are carried out there, and of no gaps.
    """
    found = await desk.application.calibration(await desk.home_of(organisation, asking))
    sight = desk.application.sight(asking)
    return CalibrationShown(
        organisation=found.organisation,
        labels=tuple(LabelShown.of(row) for row in found.labels if sight.sees_skill(row.skill)),
        brier=found.brier,
        promises=tuple(PromiseShown.of(row) for row in found.promises if sight.sees_skill(row.skill)),
        gaps=tuple(map(GapShown.of, found.gaps)) if sight.whole else (),
    )
