"""What `silicon doctor` says of how models are corrected: tools called wrongly, guards that hardly ever fire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.views_system import Examined, Health
from runtime.corrections import COUNTED_OF, Guard, Occasion, Series, Tallied
from runtime.settings import DoctorSettings

_MEANT_RARE = frozenset({Guard.CALL_REPEATED, Guard.ITERATION_LIMIT, Guard.UNANSWERED, Guard.CALL_RETRIED})
"""Limits, which hold what runs away, and recoveries from faults that pass: no model makes them needless."""
_WRONG = frozenset({Guard.ARGUMENTS_INVALID, Guard.UNKNOWN_TOOL})
_NO_TOOL = "(no such tool)"


@dataclass(frozen=True, slots=True)
class Defence:
    """How often a guard fired for a model, and how often it could have."""

    guard: Guard
    fired: int
    occasions: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.fired / self.occasions

    def __str__(self) -> str:
        return f"{self.guard} {self.fired:,} of {self.occasions:,} {COUNTED_OF[self.guard]} ({_percent(self.share)})"


def corrections_of(tallied: Tallied, settings: DoctorSettings, *, organisation: str | None) -> Iterator[Examined]:
    """Yield what is found of tools and guards, of one organisation or all; nothing where no model answered."""
    counts, ever = _of(tallied.lately, organisation), _of(tallied.ever, organisation)
    since = "" if tallied.since is None else f", since {_day(tallied.since)}"
    if any(series.what == Occasion.CALLS for series in counts):
        yield _tools(counts, settings, since)
    for model in sorted({series.model for series in counts}):
        found, known = (list(defences(_of_model(each, model))) for each in (counts, ever))
        yield _defences(model, found, {each.guard: each for each in known}, settings, since)


def _of(counts: Mapping[Series, int], organisation: str | None) -> Mapping[Series, int]:
    return {series: count for series, count in counts.items() if organisation in (None, series.organisation)}


def _of_model(counts: Mapping[Series, int], model: str) -> Mapping[Series, int]:
    return {series: count for series, count in counts.items() if series.model == model}


def defences(counts: Mapping[Series, int]) -> Iterator[Defence]:
    """Yield each guard that could have fired in these counts, in the order in which they are declared."""
    by_what: Counter[str] = Counter()
    for series, count in counts.items():
        by_what[series.what] += count
    for guard, occasion in COUNTED_OF.items():
        # of an answer several tools may be dropped; its share is one of answers
        fired = by_what[Occasion.ANSWERS_LACKING if guard is Guard.TOOL_DROPPED else guard]
        if by_what[occasion]:
            yield Defence(guard, fired, by_what[occasion])


def _tools(counts: Mapping[Series, int], settings: DoctorSettings, since: str) -> Examined:
    wrong: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for series, count in counts.items():
        if series.what in _WRONG:
            wrong[series.tool or _NO_TOOL] += count
        elif series.what == Occasion.CALLS:
            calls[series.tool or _NO_TOOL] += count
    for name, count in wrong.items():
        calls[name] = max(calls[name], count)  # the answer that made a call may have been erased
    worst = sorted(wrong.items(), key=lambda one: (-one[1], one[0]))[: settings.tools_told]
    facts: Any = {name: {"wrong": count, "calls": calls[name]} for name, count in worst}
    if not wrong:
        return Examined("tools", Health.GOOD, f"models call them with arguments that fit{since}", facts=facts)
    told = ", ".join(f"{name} {count:,} of {calls[name]:,} ({_percent(count / calls[name])})" for name, count in worst)
    what = f"calls by models whose arguments did not fit{since}: {told}"
    mend = "Say in the description of a parameter what it takes, with an example; offer a step only the tools it needs."
    return Examined("tools", Health.NOTE, what, mend, facts)


def _defences(
    model: str, found: list[Defence], ever: Mapping[Guard, Defence], settings: DoctorSettings, since: str
) -> Examined:
    name = f"defences {model}".strip()
    enough = [each for each in found if each.occasions >= settings.least_occasions]
    rare = sorted((each for each in enough if each.share < settings.retire_under), key=lambda each: each.share)
    retire = {each.guard for each in rare} - _MEANT_RARE
    told = [_facts(each, ever.get(each.guard, each), candidate=each.guard in retire) for each in found]
    facts: Any = {"model": model, "defences": told}
    least = f"{settings.least_occasions:,}"
    if not enough:
        most = max((each.occasions for each in found), default=0)
        what = f"too little to judge guards by: {most:,} occasions at most, {least} are needed{since}"
        return Examined(name, Health.GOOD, what, facts=facts)
    under = _percent(settings.retire_under)
    if not rare:
        what = f"each guard with {least} occasions fired in {under} of them or more{since}"
        return Examined(name, Health.GOOD, what, facts=facts)
    guards = "1 guard" if len(rare) == 1 else f"{len(rare)} guards"
    what = f"{guards} fired in under {under} of the occasions on which they could have{since}"
    stay = [each.guard.value for each in rare if each.guard in _MEANT_RARE]
    mend = "Candidates to retire for this model."
    if stay:
        mend += f" Not so {', '.join(stay)}: what holds or recovers is meant to be rare."
    return Examined(name, Health.NOTE, what, mend, facts, parts=tuple(map(str, rare)))


def _facts(defence: Defence, ever: Defence, *, candidate: bool) -> Mapping[str, Any]:
    return {
        "guard": defence.guard.value, "fired": defence.fired, "occasions": defence.occasions,
        "of": COUNTED_OF[defence.guard].value, "share": round(defence.share, 6), "candidate": candidate,
        "ever": {"fired": ever.fired, "occasions": ever.occasions},
    }  # fmt: skip


def _percent(share: float) -> str:
    return f"{share * 100:.1f}".removesuffix(".0") + " %"


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d")
