"""Which skills an employee's model is shown for a goal: the core, what fits, and what a rule calls for."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

from agents.skills.reach import RULE_VARIABLES, Reach, ShowRule
from contracts import Name, PlanDefinition
from runtime.expressions import ExpressionFailed, compile_condition
from runtime.search import Document, Embedder, EmbedderUnavailable, Hit, SearchIndex
from runtime.search.phrases import phrases_in
from runtime.search.tokens import plain
from runtime.settings.models import SkillSettings

_log = logging.getLogger(__name__)

_WEIGHTS = {"name": 1.0, "description": 1.0, "when_to_use": 2.0, "words": 1.0}
"""How much each text of a skill counts. `when_not_to_use` names what the skill is not for, and is not searched."""


class Routable(Protocol):
    """A skill as far as showing it goes."""

    @property
    def name(self) -> Name: ...  # noqa: D102

    @property
    def description(self) -> str: ...  # noqa: D102

    @property
    def when_to_use(self) -> str: ...  # noqa: D102

    @property
    def when_not_to_use(self) -> str: ...  # noqa: D102

    @property
    def words(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def reach(self) -> Reach: ...  # noqa: D102

    @property
    def show_when(self) -> str: ...  # noqa: D102

    @property
    def result(self) -> str: ...  # noqa: D102

    @property
    def plan(self) -> PlanDefinition: ...  # noqa: D102


class Why(StrEnum):
    """Why a skill is shown."""

    CORE = "core"
    """It always is."""
    FEW = "few"
    """The employee has so few that choosing would save nothing."""
    FITS = "fits"
    """It is among those that fit the goal best."""
    RULE = "rule"
    """A rule holds: its own, or one of the organisation."""


@dataclass(frozen=True, slots=True)
class ShownSkill:
    """One skill that is shown."""

    skill: Routable
    why: Why
    hit: Hit | None = None
    """How it fits, with the parts of its score, where it was searched for."""
    rule: str = ""
    """The condition that holds, or the words that stand in the goal."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown for a goal."""

    skills: tuple[ShownSkill, ...]
    """The core first, then what fits, best first, then what a rule calls for."""
    left_out: tuple[Name, ...]
    """Skills of the employee that are not shown, in their own order."""
    without_meaning: str = ""
    """Why words alone had to say what fits although there is an embedder; empty otherwise."""


class SkillRouter:
    """The skills of one employee, ready to choose from. Made again when they change."""

    def __init__(
        self,
        employee: Name,
        skills: Iterable[Routable],
        *,
        rules: Sequence[ShowRule] = (),
        index: SearchIndex | None = None,
        settings: SkillSettings | None = None,
    ) -> None:
        """Make the choice ready.

        Args:
            employee: whose skills they are; rules may name it.
            skills: all of its skills, in the order in which it has them.
            rules: those of the organisation; skills that are not among the employee's are not shown by them.
            index: where they are looked for, with those of others or alone (`index_of`); absent means by words.
            settings: how many are shown; absent means the defaults.
        """
        self._employee = employee
        self._skills = {skill.name: skill for skill in skills}
        self._settings = settings or SkillSettings()
        self._rules = [rule for rule in rules if not self._skills.keys().isdisjoint(rule.skills)]
        self._extended = [skill for skill in self._skills.values() if skill.reach is Reach.EXTENDED]
        self._fitting = {skill.name for skill in self._extended}
        self._index = index_of(self._extended) if index is None else index

    async def show(self, goal: str) -> Shown:
        """Return the skills that are shown for the goal, with the reason for each.

        An embedder that is away fails nothing: words say what fits then, and the answer says why.
        """
        core = [skill for skill in self._skills.values() if skill.reach is Reach.CORE]
        shown = [ShownSkill(skill, Why.CORE) for skill in core]
        without_meaning = ""
        if len(core) + len(self._extended) <= self._settings.all_up_to:
            shown += [ShownSkill(skill, Why.FEW) for skill in self._extended]
        else:
            hits, without_meaning = await self._hits(goal)
            shown += [ShownSkill(self._skills[hit.document.id], Why.FITS, hit=hit) for hit in hits]
        shown += self._called_for(plain(goal), {each.skill.name for each in shown})
        names = {each.skill.name for each in shown}
        left_out = tuple(name for name in self._skills if name not in names)
        return Shown(tuple(shown), left_out, without_meaning)

    async def _hits(self, goal: str) -> tuple[list[Hit], str]:
        """Return what fits best, and why words alone had to say so where they had."""
        search = partial(
            self._index.search, goal, top=self._settings.extended_shown, where=lambda found: found.id in self._fitting
        )
        try:
            return await search(), ""
        except EmbedderUnavailable as error:
            return await search(by_words=True), error.message

    def _called_for(self, goal: str, there: Container[Name]) -> list[ShownSkill]:
        """Return the skills that a rule calls for beside those that are shown already."""
        holding = [rule for rule in self._rules if self._holds(rule.when, goal, rule.skills)]
        found = []
        for skill in self._skills.values():
            if skill.name in there:
                continue
            by = self._own_rule(skill, goal) or next((rule.when for rule in holding if skill.name in rule.skills), "")
            if by:
                found.append(ShownSkill(skill, Why.RULE, rule=by))
        return found

    def _own_rule(self, skill: Routable, goal: str) -> str:
        """Return the rule of a skill of the long tail by which it is shown; empty where none holds."""
        if skill.reach is not Reach.LONG_TAIL:
            return ""
        if not skill.show_when:
            return ", ".join(phrases_in(skill.words, goal))
        return skill.show_when if self._holds(skill.show_when, goal, (skill.name,)) else ""

    def _holds(self, condition: str, goal: str, skills: Sequence[Name]) -> bool:
        try:
            return compile_condition(condition, RULE_VARIABLES).holds({"goal": goal, "employee": self._employee})
        except ExpressionFailed as failed:  # a pattern that only fails when it is used; nothing is shown by it
            facts = {"skills": list(skills), "why": failed.message}
            _log.warning("a rule by which skills are shown could not be worked out", extra=facts)
            return False


def index_of(skills: Iterable[Routable], embedder: Embedder | None = None) -> SearchIndex:
    """Return where skills are found by what they say; without an embedder, words alone decide."""
    index = SearchIndex(_WEIGHTS, embedder=embedder)
    index.put(*map(_document, skills))
    return index


def _document(skill: Routable) -> Document:
    return Document(
        skill.name,
        {
            "name": skill.name.replace("-", " "),
            "description": skill.description,
            "when_to_use": skill.when_to_use,
            "words": ", ".join(skill.words),
        },
    )
