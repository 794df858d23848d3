"""What a profile does: it shapes answers, weighs what a search finds, and says how to explain. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contracts import MemoryRecord
from memory.personal.profile import KNOWN, TO_EXPLAIN, Profile
from memory.personal.traits import Depth
from runtime.search import plain
from runtime.settings import MemorySettings

_FULL = 5.0
"""Weight of attention at which it counts in full."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """In which form somebody wants answers; None: nothing is known."""

    language: str | None = None
    format: str | None = None
    length: str | None = None
    tone: str | None = None


@dataclass(frozen=True, slots=True)
class Explaining:
    """How to explain something to somebody."""

    depth: str | None = None
    """`overview` or `detail`."""
    first: str | None = None
    """What they decide by, and so want to read first."""
    explain: Sequence[str] = ()
    """Terms that have to be explained."""
    known: Sequence[str] = ()
    """Terms that need no explanation."""


def form_of(profile: Profile) -> AnswerForm:
    """Return in which form a person wants answers."""
    return AnswerForm(*(profile.value(trait) for trait in ("language", "format", "length", "tone")))


def explaining_for(profile: Profile) -> Explaining:
    """Return how to explain something to a person."""
    return Explaining(
        profile.value("depth"), profile.value("decides_by"), profile.terms(TO_EXPLAIN), profile.terms(KNOWN)
    )


def weigher(profile: Profile, settings: MemorySettings) -> Callable[[MemoryRecord], float]:
    """Return the factor by which a memory counts in searches of a person: 1 for what they never looked at.

    It lies within `1 ± attention_gain`: it turns the order of what fits about equally, and hides nothing.
    """
    looks = [
        (each.trait, plain(each.value.replace("-", " ")), 1.0 if each.by_person else each.weight / _FULL)
        for each in profile.traits
        if each.depth is Depth.ATTENTION
    ]

    def factor(record: MemoryRecord) -> float:
        if not looks:
            return 1.0
        text = plain(record.text)
        names = {plain(name) for name in record.entities}
        found = sum(weight for trait, value, weight in looks if _is_about(record, trait, value, text, names))
        return 1.0 + settings.attention_gain * max(-1.0, min(1.0, found))

    return factor


def guidance(profile: Profile) -> str:
    """Return how to answer a person, for a model, in a few lines; empty where nothing is known."""
    form, how = form_of(profile), explaining_for(profile)
    lines = []
    if form.language:
        lines.append(f"Answer in {'Chinese' if form.language == 'zh' else 'English'}.")
    if form.format:
        lines.append(_FORMATS[form.format])
    if form.length:
        lines.append("Be brief." if form.length == "short" else "Be thorough.")
    if form.tone:
        lines.append(f"Write in a {form.tone} tone.")
    if how.depth:
        lines.append("Give the overview." if how.depth == "overview" else "Give the details, step by step.")
    if how.first:
        lines.append(_FIRST[how.first])
    if how.explain:
        lines.append(f"Explain these words where they occur: {', '.join(how.explain)}.")
    if how.known:
        lines.append(f"These words need no explanation: {', '.join(how.known)}.")
    return "\n".join(lines)


_FORMATS = {
    "table": "Put figures into a table.",
    "list": "Use a list of short points.",
    "prose": "Write full sentences, no lists.",
    "chart": "Show figures as a chart where that can be done.",
}
_FIRST = {
    "recommendation": "Begin with what you recommend.",
    "risks": "Begin with what could go wrong.",
    "numbers": "Begin with the numbers.",
    "evidence": "Say for each statement what it rests on.",
    "options": "Set the options side by side.",
}


def _is_about(record: MemoryRecord, trait: str, value: str, text: str, names: set[str]) -> bool:
    if trait == "domain":
        return record.domain is not None and plain(record.domain.replace("-", " ")) == value
    if trait == "topic" and record.intent is not None and plain(record.intent) == value:
        return True
    return value in names or f" {value} " in f" {text.strip('.!?。！？')} "
