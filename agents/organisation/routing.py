"""Which skill fits a goal, by the words it declares: counted, never guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from agents.organisation.model import Skill
from contracts import Name

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_SHORT = 3
"""Words of a situation up to this length are too common to tell skills apart."""
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ions", "ion", "es", "ed", "s", "y", "e")
_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class Fit:
    """One skill and how well it fits."""

    skill: Name
    score: int
    """How many different words and phrases of the skill stand in the goal."""
    found: tuple[str, ...]
    """Which."""


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
        best = self.fits[0].score if self.fits else 0
        equal = tuple(fit for fit in self.fits if fit.score == best)
        return equal if best and len(equal) > 1 else ()


def route(goal: str, skills: Iterable[Skill]) -> Route:
    """Return which skill the goal's words lead to.

    A skill's `words` are words or phrases; those in Chinese are looked for anywhere in the text, others as whole words
    whatever their ending. The longer words of `when_to_use` decide between skills that its `words` leave equal.
    `when_not_to_use` is for people and is not counted.
    """
    text = _plain(goal)
    stems = _stems(text)
    fits = sorted((_fit(skill, text, stems) for skill in skills), key=lambda fit: (-fit.score, fit.skill))
    best = [fit for fit in fits if fits[0].score and fit.score == fits[0].score]
    return Route(best[0].skill if len(best) == 1 else None, tuple(fits))


def _fit(skill: Skill, text: str, stems: list[str]) -> Fit:
    words = dict.fromkeys(_plain(word) for word in (*skill.words, *_situation(skill)))
    found: dict[tuple[str, ...], str] = {}
    for word in words:
        if word and _stands_in(word, text, stems):
            found.setdefault((word,) if _HAN.search(word) else tuple(_stems(word)), word)
    return Fit(skill.name, len(found), tuple(found.values()))


def _situation(skill: Skill) -> list[str]:
    """Return the telling words of `when_to_use`; Chinese has no spaces, so there only `words` count."""
    return [word for word in _WORD.findall(skill.when_to_use) if len(word) > _SHORT and not _HAN.search(word)]


def _stands_in(word: str, text: str, stems: list[str]) -> bool:
    if _HAN.search(word):
        return word in text
    wanted = _stems(word)
    return bool(wanted) and any(stems[at : at + len(wanted)] == wanted for at in range(len(stems) - len(wanted) + 1))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
