"""Packs: named sets of capabilities, put out as what they stand for wherever `can` or `tools` names one.

Everything behind the reading of files sees single capabilities only: approvals, checks and orders know no packs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft
from agents.organisation.yaml_source import Path, YamlSource
from contracts import Tier

_DEEPEST = 20
_MembersOf: TypeAlias = Callable[[str], Sequence[str] | None]
"""Name → what it stands for there; None for what is no pack."""


def packs_in(source: YamlSource, draft: Draft) -> Mapping[str, Sequence[str]]:
    """Return each pack of org.yaml with the capabilities it stands for; what is wrong is noted in `source`.

    A name that leads nowhere is left out, so that it is told where it stands and not wherever the pack is used.
    """
    given = source.value.get("packs") if isinstance(source.value, dict) else None
    if not isinstance(given, dict):
        return {}
    packs = _Packs(source, draft, {name: _listed(members) for name, members in given.items()})
    for name, members in given.items():
        if name in draft.specs:
            what = f"There is a capability `{name}`, so a pack cannot have that name."
            source.faults.append(source.fault(("packs", name), what, "Call it otherwise."))
        if members is None or members == []:
            what = f"The pack `{name}` is empty."
            source.faults.append(source.fault(("packs", name), what, "Name what is in it, or take it away."))
    return {name: packs.members_of(name) for name in given if name not in draft.specs}


def put_out_in_org(source: YamlSource, packs: Mapping[str, Sequence[str]]) -> None:
    """Put the packs out in `can` of every employee."""
    waiting: list[tuple[Any, Path]] = []
    if packs and isinstance(source.value, dict):
        waiting = [(source.value.get("head"), ("head",))]
    while waiting:
        entry, path = waiting.pop()
        if isinstance(entry, dict):
            _put_out(entry, "can", source, path, packs.get)
            below = entry.get("manages")
            waiting += [
                (each, (*path, "manages", n)) for n, each in enumerate(below if isinstance(below, list) else ())
            ]


def put_out_in_plan(skill: str, value: Any, source: YamlSource, draft: Draft) -> None:
    """Put the packs out in `tools` of every step: what whoever does the step may use, and nothing beyond it."""
    steps = value.get("steps") if isinstance(value, dict) else None
    waiting: list[tuple[Any, Path, str | None]] = []
    if draft.packs and isinstance(steps, list):
        waiting = [(step, ("steps", number), None) for number, step in enumerate(steps)]
    while waiting:
        step, path, by = waiting.pop()
        if not isinstance(step, dict):
            continue
        by = step["by"] if isinstance(step.get("by"), str) else by
        allowed = _Allowed(draft, skill, by)
        _put_out(step, "tools", source, path, allowed.members_of)
        for name in allowed.empty:
            what = f"Whoever does this step may use nothing of the pack `{name}`."
            source.faults.append(source.fault((*path, "tools"), what, "Add something of it to `can` in org.yaml."))
        waiting += [(step.get("otherwise"), (*path, "otherwise"), by)]
        waiting += [(branch, (*path, "parallel", n), None) for n, branch in enumerate(_items(step.get("parallel")))]


class _Packs:
    """Puts packs out that are inside others."""

    def __init__(self, source: YamlSource, draft: Draft, listed: Mapping[str, Sequence[str]]) -> None:
        self._source = source
        self._draft = draft
        self._listed = listed
        self._known: dict[str, tuple[str, ...]] = {}

    def members_of(self, pack: str, above: tuple[str, ...] = ()) -> tuple[str, ...]:
        if pack in self._known:
            return self._known[pack]
        found: dict[str, None] = {}
        for number, name in enumerate(self._listed[pack]):
            place = ("packs", pack, number)
            if name in self._draft.specs:
                found[name] = None
            elif len(above) >= _DEEPEST:
                self._fault(place, f"Packs inside packs are {_DEEPEST} deep at most.", "Name capabilities here.")
            elif name in (*above, pack):
                way = " → ".join((*above, pack, name))
                self._fault(place, f"The pack `{name}` holds itself: {way}.", "Take one of them out.")
            elif name in self._listed:
                found.update(dict.fromkeys(self.members_of(name, (*above, pack))))
            elif name.partition(".")[0] in self._draft.unread:
                found[name] = None
            else:
                hint = nearest(name, {*self._draft.specs, *self._listed})
                self._fault(place, f"There is no capability or pack `{name}`.", hint)
        self._known[pack] = tuple(found)
        return self._known[pack]

    def _fault(self, place: Path, what: str, hint: str) -> None:
        self._source.faults.append(self._source.fault(place, what, hint))


class _Allowed:
    """What those who do a step may use of packs; `empty` holds the packs of which that is nothing."""

    def __init__(self, draft: Draft, skill: str, by: str | None) -> None:
        self._draft = draft
        employees = draft.employees.values()
        self._doers = [entry for entry in employees if (entry.id == by if by else skill in entry.skills)]
        self.empty: list[str] = []

    def members_of(self, name: str) -> Sequence[str] | None:
        members = self._draft.packs.get(name)
        if members is None:
            return None
        allowed = [each for each in members if self._is_everybodys(each) or all(each in d.can for d in self._doers)]
        if members and not allowed:
            self.empty.append(name)
        return allowed

    def _is_everybodys(self, name: str) -> bool:
        spec = self._draft.builtin.get(name)
        return spec is not None and spec.tier is Tier.COGNITIVE


def _put_out(holder: dict[str, Any], field: str, source: YamlSource, path: Path, members_of: _MembersOf) -> None:
    """Put packs out in a list, with each member at the line of its pack; what stands there itself stays once."""
    names = _listed(holder.get(field))
    lines = [source.line((*path, field, number)) for number in range(len(names))]
    members = [members_of(name) for name in names]
    if all(each is None for each in members):
        return
    made: list[tuple[str, int]] = []
    for name, line, inside in zip(names, lines, members, strict=True):
        there = {*names, *(each for each, _ in made)}
        made += [(name, line)] if inside is None else [(each, line) for each in inside if each not in there]
    holder[field] = [name for name, _ in made]
    source.lines.update({(*path, field, number): line for number, (_, line) in enumerate(made)})


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _listed(value: Any) -> list[str]:
    """Return the names in a list; one alone is a list of one, and what is no list of names is told elsewhere."""
    names = [value] if isinstance(value, str) else value
    return list(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else []
