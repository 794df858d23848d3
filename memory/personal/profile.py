"""A profile: the fold of what was noticed and of what its person set, as it stands at a moment.

Each observation counts `weight × 0.5 ^ (days / half-life)`, days as in `memory.records.decay`; what a person set beats
all of it, does not fade, and stands until they take it back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.personal.traits import CHOICES, KNOWN, TO_EXPLAIN, Depth, depth_of
from memory.records.decay import days_between
from runtime.settings import MemorySettings

_SHOWN = 0.1
"""A weight nearer to nothing is none any more."""
_SURE = 0.75
"""From so much on a trait of form or thinking counts: said once, and not long ago."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was noticed."""

    trait: str
    value: str
    weight: float
    why: str
    at: datetime
    conversation: str
    turn: int


@dataclass(frozen=True, slots=True)
class Trait:
    """One thing that is known of a person, and why."""

    trait: str
    value: str
    weight: float
    """By now; of what they set themselves, 0."""
    by_person: bool
    """Whether they set it themselves."""
    because: Sequence[Observation] = ()
    """Newest first."""

    @property
    def depth(self) -> Depth:
        """How deep it goes."""
        return depth_of(self.trait)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a person at a moment."""

    person: str
    traits: Sequence[Trait] = ()
    """By depth and trait, the strongest first."""
    events: int = 0
    _set: Mapping[str, str] = field(default_factory=dict)

    def value(self, trait: str) -> str | None:
        """Return the value of a trait of form or thinking; None where nothing is sure enough."""
        of = [each for each in self.traits if each.trait == trait]
        own = next((each.value for each in of if each.by_person), None)
        return own or next((each.value for each in of if each.weight >= _SURE), None)

    def terms(self, kind: str) -> list[str]:
        """Return the terms that are `KNOWN` or `TO_EXPLAIN`; of both, what was noticed more counts."""
        best: dict[str, Trait] = {}
        for each in self.traits:
            if each.trait == "term":
                term = each.value.partition("=")[0]
                if term not in best or (each.by_person, each.weight) > (best[term].by_person, best[term].weight):
                    best[term] = each
        return sorted(term for term, each in best.items() if each.value.endswith(f"={kind}") and _counts(each))


def folded(
    person: str, observations: Iterable[Observation], own: Mapping[str, str], now: datetime, settings: MemorySettings,
    *, events: int = 0,
) -> Profile:  # fmt: skip
    """Return a profile as it stands at a moment; `own` is what the person set, `trait` or `trait value` → value."""
    by_value: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for each in observations:
        by_value[each.trait, each.value].append(each)
    traits = [
        Trait(trait, value, _weight(seen, now, settings), by_person=False, because=tuple(reversed(seen)))
        for (trait, value), seen in by_value.items()
    ]
    kept = [each for each in traits if _name(each) not in own and abs(each.weight) >= _SHOWN]
    kept += [Trait(name.partition(" ")[0], value, 0.0, by_person=True) for name, value in own.items()]
    order = [trait for traits in CHOICES.values() for trait in traits]
    kept.sort(key=lambda each: (order.index(each.trait), not each.by_person, -each.weight, each.value))
    return Profile(person, tuple(kept), events)


def own_name(trait: str, value: str) -> str:
    """Return under which name a person's own setting stands: one for each trait, of words one for each of them."""
    if CHOICES[depth_of(trait)][trait]:
        return trait
    return f"{trait} {value.partition('=')[0] if trait == 'term' else value}"


def _name(trait: Trait) -> str:
    return own_name(trait.trait, trait.value)


def _weight(seen: Iterable[Observation], now: datetime, settings: MemorySettings) -> float:
    half_life = settings.attention_half_life_days
    return sum(each.weight * float(0.5 ** (days_between(each.at, now) / half_life)) for each in seen)


def _counts(trait: Trait) -> bool:
    return trait.by_person or trait.weight >= _SURE


__all__ = ["KNOWN", "TO_EXPLAIN", "Observation", "Profile", "Trait", "folded", "own_name"]
