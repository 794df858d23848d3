"""Which skill fits a goal, by the words it declares: counted, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agents.organisation.model import Skill
from contracts import Name
from runtime.search.phrases import phrases_in, stems_of
from runtime.search.tokens import has_unspaced, plain, stem

_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset((
    "about", "after", "also", "and", "are", "been", "before", "but", "does", "for", "from", "has", "have", "how",
    "into", "its", "just", "like", "many", "more", "most", "need", "only", "over", "some", "such", "than", "that",
    "the", "their", "them", "then", "there", "they", "this", "used", "very", "want", "was", "were", "what", "when",
    "where", "which", "who", "why", "will", "with", "would", "you", "your",
))  # fmt: skip
"""Words that tell no skill from another."""
_ENOUGH = 2
"""Words of `when_to_use` that are enough where none of `words` is found."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One skill and how well it fits."""

    skill: Name
    score: int
    """How many of its declared words and phrases stand in the goal."""
    situation: int
    """How many other words of `when_to_use` do; decides where the score leaves skills equal."""
    found: tuple[str, ...]
    """Which they are."""

    @property
    def fits(self) -> bool:
        """Whether that is more than chance."""
        return self.score > 0 or self.situation >= _ENOUGH

    def as_well_as(self, other: Fit) -> bool:
        """Whether both fit equally well."""
        return (self.score, self.situation) == (other.score, other.situation)


@dataclass(frozen=True, slots=True)
class Route:
    """The skill that fits best, or the list a person chooses from."""

    skill: Name | None
    """None when no skill fits, or several fit equally well."""
    fits: tuple[Fit, ...]
    """All skills, best first; equals in order of their names."""

    @property
    def tied(self) -> tuple[Fit, ...]:
        """Skills that fit equally well and better than the rest; empty when one is best or none fits."""
        equal = tuple(fit for fit in self.fits if fit.fits and fit.as_well_as(self.fits[0]))
        return equal if len(equal) > 1 else ()


def route(goal: str, skills: Iterable[Skill]) -> Route:
    """Return which skill the goal's words lead to.

    A skill's `words` are words or phrases; those in Chinese are looked for anywhere in the text, others as whole words
    whatever their ending. `when_not_to_use` is for people and is not counted.
    """
    fits = sorted((_fit(skill, goal) for skill in skills), key=lambda fit: (-fit.score, -fit.situation, fit.skill))
    best = [fit for fit in fits if fit.fits and fit.as_well_as(fits[0])]
    return Route(best[0].skill if len(best) == 1 else None, tuple(fits))


def _fit(skill: Skill, goal: str) -> Fit:
    declared = phrases_in(skill.words, goal)
    known = {known for word in skill.words for known in stems_of(plain(word))}
    situation = [word for word in _WORD.findall(plain(skill.when_to_use)) if _tells(word) and stem(word) not in known]
    more = phrases_in(situation, goal)
    return Fit(skill.name, len(declared), len(more), (*declared, *more))


def _tells(word: str) -> bool:
    """Whether a word of a situation says something; Chinese has no spaces, so there only `words` count."""
    return len(word) > 2 and word not in _COMMON and not has_unspaced(word)
