"""Which skill fits a goal, by the words it declares: counted, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agents.organisation.model import Skill
from contracts import Name
from runtime.search.tokens import plain, stem

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
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
    text = plain(goal)
    stems = _stems(text)
    fits = sorted(
        (_fit(skill, text, stems) for skill in skills), key=lambda fit: (-fit.score, -fit.situation, fit.skill)
    )
    best = [fit for fit in fits if fit.fits and fit.as_well_as(fits[0])]
    return Route(best[0].skill if len(best) == 1 else None, tuple(fits))


def _fit(skill: Skill, text: str, stems: list[str]) -> Fit:
    declared = _found(skill.words, text, stems)
    known = {known for word in skill.words for known in _stems(plain(word))}
    situation = [word for word in _WORD.findall(plain(skill.when_to_use)) if _tells(word) and stem(word) not in known]
    more = _found(situation, text, stems)
    return Fit(skill.name, len(declared), len(more), (*declared, *more))


def _found(words: Iterable[str], text: str, stems: list[str]) -> list[str]:
    """Return the words that stand in the text, each once whatever its ending."""
    found: dict[str, str] = {}
    for word in map(plain, words):
        if word and _stands_in(word, text, stems):
            found.setdefault(" ".join(_stems(word)), word)
    return list(found.values())


def _tells(word: str) -> bool:
    """Whether a word of a situation says something; Chinese has no spaces, so there only `words` count."""
    return len(word) > 2 and word not in _COMMON and not _HAN.search(word)


def _stands_in(word: str, text: str, stems: list[str]) -> bool:
    if _HAN.search(word):
        return word in text
    wanted = _stems(word)
    return bool(wanted) and any(stems[at : at + len(wanted)] == wanted for at in range(len(stems) - len(wanted) + 1))


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text)]
