"""Which skills each employee is shown for a task: the engine's port, over one index that stays ready."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from agents.skills.reach import ShowRule
from agents.skills.routing import Routable, Shown, SkillRouter, Why, index_of
from contracts import Name
from runtime.engine.ports import SkillsShown
from runtime.errors import NotFound
from runtime.search import Embedder
from runtime.settings.models import SkillSettings

_log = logging.getLogger(__name__)

_ANSWERS = 512
"""Tasks whose answer is remembered."""


class SkillChooser:
    """Chooses for the employees of one organisation as it was pinned; its skills are embedded once.

    The same task gets the same answer, and the second time no vector is made for it.
    """

    def __init__(
        self,
        skills: Mapping[Name, Routable],
        owned: Mapping[Name, Sequence[Name]],
        *,
        rules: Sequence[ShowRule] = (),
        embedder: Embedder | None = None,
        settings: SkillSettings | None = None,
    ) -> None:
        """Make it ready; nothing is embedded yet.

        Args:
            skills: all of the organisation.
            owned: employee → its skills.
            rules: those of the organisation by which skills are shown.
            embedder: without one, words alone say what fits.
            settings: how many are shown; absent means the defaults.
        """
        self._skills = skills
        self._owned = owned
        # One index for all: what is asked for differs with the employee, and with the skills that are under way.
        index = index_of(skills.values(), embedder)
        self._router = partial(SkillRouter, rules=rules, index=index, settings=settings)
        self._warned = ""
        self._answers: dict[tuple[Name, str, tuple[Name, ...]], SkillsShown] = {}

    async def for_step(self, employee: Name, task: str, among: Sequence[Name] | None = None) -> SkillsShown:
        """Return the skills that a model is shown for the task; see the port."""
        names = self._names(employee, among)
        key = employee, task, names
        if key in self._answers:
            answer = self._answers[key] = self._answers.pop(key)  # the one asked for last stands last
            return answer
        router = self._router(employee, [self._skills[name] for name in names])
        answer = _answer_of(await router.show(task))
        self._warn(answer.without_meaning)
        if answer.without_meaning:  # it may be better the next time, so it is not remembered
            return answer
        self._answers[key] = answer
        while len(self._answers) > _ANSWERS:
            del self._answers[next(iter(self._answers))]
        return answer

    def _names(self, employee: Name, among: Sequence[Name] | None) -> tuple[Name, ...]:
        if among is None:
            if employee not in self._owned:
                raise NotFound(f"There is no employee {employee} whose skills could be shown.", employee=employee)
            among = self._owned[employee]
        names = tuple(dict.fromkeys(among))
        unknown = [name for name in names if name not in self._skills]
        if unknown:
            raise NotFound(f"There is no skill {', '.join(unknown)} that could be shown.", skills=[*unknown])
        return names

    def _warn(self, why: str) -> None:
        """Log that words alone had to do, once as long as it is for the same reason."""
        if why and why != self._warned:
            _log.warning("skills are found by their words alone: %s", why)
        self._warned = why


def _answer_of(shown: Shown) -> SkillsShown:
    return SkillsShown(
        names=tuple(each.skill.name for each in shown.skills),
        reasons={each.skill.name: _reason(each.why, each.rule) for each in shown.skills},
        left_out=shown.left_out,
        without_meaning=shown.without_meaning,
    )


def _reason(why: Why, rule: str) -> str:
    return f"{why}: {rule}" if rule else str(why)
