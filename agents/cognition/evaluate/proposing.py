"""A gap becomes a card, once: the draft of a new skill, and the cases that show that it is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.cognition.evaluate.gaps import TYPES, Gap, GapCase, GapKind, find_gaps
from contracts import CardId, CardKind, DecisionCard, Event, Json, Name, Option, StepId, Text
from governance.approvals import DEFAULT_RULE, ApprovalGateway, ApprovalRule, rule_for
from runtime.canonical import clean
from runtime.clock import Clock
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings.evaluation import EvaluationSettings
from runtime.texts import Say

_PAGE = 5_000
_TOLD = 10
"""Cases that a card lists; all of them stand in the ledger."""
_WHO = "evaluator"
"""In whose name a proposal is made: nobody who could decide it."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A gap that was put before people."""

    key: str
    kind: GapKind
    about: str
    cases: tuple[Mapping[str, Json], ...]
    draft: str
    """Text of the skill's SKILL.md, as far as the cases tell."""
    card: CardId
    at: datetime


class Proposals:
    """What one organisation was proposed to learn. Nothing changes by itself: a yes says that somebody writes it."""

    def __init__(
        self,
        ledger: Ledger,
        gateway: ApprovalGateway,
        rules: Mapping[str, ApprovalRule],
        organisation: Name,
        settings: EvaluationSettings,
        *,
        clock: Clock,
        languages: Mapping[str, Say],
    ) -> None:
        self._ledger = ledger
        self._gateway = gateway
        self._rules = rules
        self._organisation = organisation
        self._settings = settings
        self._clock = clock
        self._languages = languages
        self._after = 0
        self._seen: list[Event] = []

    async def propose(self) -> list[Proposed]:
        """Raise a card for each gap that has none yet; return the new ones. Without a default rule nobody is asked."""
        rule = rule_for(self._rules, DEFAULT_RULE)
        if rule is None:
            return []
        new = []
        known = {stream.rpartition("/")[2] for stream in await self._ledger.streams("gap", prefix=self._prefix)}
        for gap in find_gaps(await self._events(), self._settings, self._clock.now()):
            if gap.key not in known and (proposed := await self._raise(gap, rule)) is not None:
                new.append(proposed)
        return new

    async def all(self) -> list[Proposed]:
        """Return every gap that was proposed, oldest first."""
        return [_proposed(event) for event in await self._ledger.read_streams(self._prefix) if event.data]

    async def _events(self) -> list[Event]:
        """Return what may tell of gaps; only what is new is read, and what is too old is let go."""
        while page := await self._ledger.read_all(after=self._after, limit=_PAGE, types=TYPES):
            self._after = page[-1].position
            self._seen += [event for event in page if event.organisation == self._organisation]
        since = self._clock.now() - timedelta(days=self._settings.gap_days)
        self._seen = [event for event in self._seen if event.time >= since]
        return self._seen

    async def _raise(self, gap: Gap, rule: ApprovalRule) -> Proposed | None:
        card = self._card(gap, rule)
        told = clean(
            {
                "key": gap.key, "kind": gap.kind, "about": gap.about, "cases": [_told(case) for case in gap.cases],
                "draft": draft_of(gap), "card": card.card_id,
            }
        )  # fmt: skip
        assert isinstance(told, dict)
        append = Append(
            f"{self._prefix}{gap.key}", (NewEvent("gap.proposed", told),), 0, self._organisation,
            f"/organisation/{self._organisation}/evaluation",
        )  # fmt: skip
        try:
            stored = await self._ledger.append(append, self._gateway.card_append(card))
        except VersionConflict:
            return None  # another process proposed it meanwhile
        return _proposed(stored[0])

    def _card(self, gap: Gap, rule: ApprovalRule) -> DecisionCard:
        last, now = gap.cases[-1], self._clock.now()
        return DecisionCard(
            card_id=CardId.new(),
            kind=CardKind.PROPOSAL,
            execution_id=last.execution,
            order_id=last.order,
            step=_step(last),
            organisation=self._organisation,
            employee=gap.employee,
            question=self._text("gap-question", gap),
            impact=self._text(f"gap-impact-{gap.kind.value.replace('_', '-')}", gap),
            options=(self._option("draft", gap), self._option("nothing", gap)),
            about=f"gap {gap.key}",
            proposes={"what": "skill", "gap": gap.key, "draft": draft_of(gap)},
            facts={
                f"case {number}": {"value": case.goal, "source": f"{case.execution} {case.what}"[:2_000]}
                for number, case in enumerate(gap.cases[-_TOLD:], 1)
            },
            policy=rule.name,
            who=rule.who,
            quorum=rule.quorum,
            requested_by=_WHO,
            raised_at=now,
            deadline=rule.deadline(now),
            escalate_to=rule.escalate_to,
        )

    def _option(self, id_: str, gap: Gap) -> Option:
        words = {field: self._text(f"gap-{id_}-{field}", gap) for field in ("title", "benefit", "risk", "cost")}
        return Option(id=id_, reversible=True, **words)

    def _text(self, name: str, gap: Gap) -> Text:
        facts: Mapping[str, object] = {"about": gap.about, "cases": len(gap.cases), "skill": gap.skill or "–"}
        return {language: say(name, **facts) for language, say in self._languages.items()}

    @property
    def _prefix(self) -> str:
        return f"gap/{self._organisation}/"


def draft_of(gap: Gap) -> str:
    """Return the beginning of a SKILL.md: what it is to be for, by the cases; the steps are for a person to write."""
    first = gap.cases[0].goal.replace("\n", " ")
    lines = [
        "---",
        f"name: {_skill_name(gap)}",
        f"description: Draft. Does what {len(gap.cases)} executions could not, such as “{first[:200]}”.",
        "metadata:",
        f"  when_to_use: Goals like “{first[:200]}”.",
        "---",
        "# Cases that show the gap",
        "",
        *map(_line, gap.cases),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _line(case: GapCase) -> str:
    return f"- {case.execution} · {case.at:%Y-%m-%d %H:%M} UTC · {case.goal[:200]}: {case.what[:300]}"


def _skill_name(gap: Gap) -> str:
    return f"{gap.skill}-otherwise" if gap.skill else f"new-skill-{gap.key[:6]}"


def _step(case: GapCase) -> StepId:
    return case.step if case.step and case.step.replace("_", "").isalnum() and case.step[0].isalpha() else "evaluate"


def _told(case: GapCase) -> dict[str, object]:
    return {"execution": case.execution, "order": case.order, "at": case.at, "goal": case.goal, "what": case.what}


def _proposed(event: Event) -> Proposed:
    data: Mapping[str, Json] = event.data or {}
    cases = data.get("cases")
    return Proposed(
        str(data["key"]), GapKind(str(data["kind"])), str(data["about"]),
        tuple(case for case in cases if isinstance(case, dict)) if isinstance(cases, list) else (),
        str(data["draft"]), CardId(str(data["card"])), event.time,
    )  # fmt: skip
