"""What a step of a plan can name, and what each name holds, as far as declarations tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, TypeAlias

from contracts import Json, PlanDefinition, Step, ValueType
from runtime.schema import SchemaFault, field_schema, json_schema_of, type_of

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema; an empty one means that nothing is known."""

GivesOf: TypeAlias = Callable[[Step], Mapping[str, Json] | None]
"""Returns the declared output fields of one run of a step, or None when nobody declared them."""

UNKNOWN: Schema = {}
_MAY_FAIL = "x-may-fail"
"""Mark of a branch's schema: in the place of what it gives, `__error` may stand there."""
PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "category": {"type": "string"},
        "message": {"type": "string"},
        "facts": {"type": "object"},
    },
}


@dataclass(frozen=True, slots=True)
class NotThere:
    """Why a path leads nowhere, and what may have been meant."""

    message: str
    hint: str = ""


@dataclass(frozen=True)
class Names:
    """The names one step can use, each with the schema of what it holds."""

    roots: Mapping[str, Schema]
    siblings: frozenset[str] = frozenset()
    """Branches of the same group, which run at the same time and cannot be read."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Branch → the group through which it is read from outside."""
    null_at_first: frozenset[str] = frozenset()
    """Steps repeated until a check holds, seen from inside: null in the first run, then the previous output."""

    def with_(self, more: Mapping[str, Schema]) -> Names:
        """Return these with more names, which win over those that were there."""
        return replace(self, roots={**self.roots, **more}, null_at_first=self.null_at_first - more.keys())

    def before(self, step: str, output: Schema) -> Names:
        """Return these as a step sees them that also sees its own output of the time before."""
        open_type = {name: held for name, held in output.items() if name != "type"}
        return replace(self.with_({step: open_type}), null_at_first=self.null_at_first | {step})

    def without(self, *names: str) -> Names:
        """Return these without some names."""
        return replace(self, roots={name: held for name, held in self.roots.items() if name not in names})

    def beside(self, siblings: Iterable[str]) -> Names:
        """Return these as a branch sees them that runs beside others."""
        return replace(self, siblings=self.siblings.union(siblings))

    def types(self, wanted: Iterable[str]) -> dict[str, ValueType]:
        """Return those of the wanted names that there are, with their types, as expressions declare them."""
        return {name: type_of(dict(self.roots[name])) for name in wanted if name in self.roots}

    def find(self, root: str, path: Iterable[str | int]) -> Schema | NotThere:
        """Return the schema of what a path leads to, or why it leads nowhere."""
        return walk(self.roots[root], root, path) if root in self.roots else self._why_not(root)

    def _why_not(self, root: str) -> NotThere:
        if root in self.siblings:
            return NotThere(
                f"`{root}` is a branch of the same group; branches run at the same time and cannot read each other.",
                "Read it in a step after the group.",
            )
        if root in self.groups:
            group = self.groups[root]
            return NotThere(f"`{root}` is a branch of the group `{group}`.", f"Read it as `{group}.{root}`.")
        return NotThere(f"There is no parameter or step `{root}` here.", near(root, self.roots))


def names_of(plan: PlanDefinition, gives_of: GivesOf) -> Names:
    """Return what can be named when every step has finished."""
    roots: dict[str, Schema] = {"context": UNKNOWN, "known_at": {"type": "string", "format": "date-time"}}
    for name, parameter in plan.parameters.items():
        roots[name] = field_schema(parameter.type.value) if parameter.must_be_given else UNKNOWN
    roots.update((step.id, output_of(step, gives_of)) for step in plan.steps)
    groups = {inner.id: step.id for step in plan.steps for branch in step.parallel for inner in _with_branches(branch)}
    return Names(roots, groups=groups)


def inside(names: Names, step: Step) -> Names:
    """Return what the step itself can name: all but itself, and what it is repeated for.

    A step that is repeated until a check holds also sees what it gave the time before, under its own id.
    """
    own, names = names.roots.get(step.id, UNKNOWN), names.without(step.id)
    if step.for_each is not None:
        return names.with_({"item": UNKNOWN, "index": {"type": "integer"}})
    return names.with_({"index": {"type": "integer"}}).before(step.id, own) if step.until else names


def output_of(step: Step, gives_of: GivesOf) -> Schema:
    """Return the schema of what later steps see under the step's id."""
    once = one_output_of(step, gives_of)
    return {"type": "array", "items": once} if step.for_each is not None else once


def one_output_of(step: Step, gives_of: GivesOf) -> Schema:
    """Return the schema of what one run of the step gives."""
    if step.parallel:
        return {"type": "object", "properties": {branch.id: _branch(branch, gives_of) for branch in step.parallel}}
    declared = gives_of(step)
    try:
        return json_schema_of(declared) if declared else UNKNOWN
    except SchemaFault:
        return UNKNOWN


def _branch(step: Step, gives_of: GivesOf) -> Schema:
    """Return what a later step sees of a branch: what it gives, or how it failed."""
    output = output_of(step, gives_of)
    return {**output, _MAY_FAIL: True} if output else output


def walk(schema: Schema, name: str, path: Iterable[str | int]) -> Schema | NotThere:
    """Follow a path through a schema; what a schema leaves open is taken to be there."""
    for key in path:
        found = _item(schema, name, key) if isinstance(key, int) else _field(schema, name, key)
        if isinstance(found, NotThere):
            return found
        schema, name = found, f"{name}[{key}]" if isinstance(key, int) else f"{name}.{key}"
    return schema


def near(name: str, there: Iterable[str]) -> str:
    """Return a hint at the nearest of the names there are, or at all of them."""
    names = sorted(there)
    found = get_close_matches(name, names, n=1)
    if found:
        return f"Did you mean `{found[0]}`?"
    return f"There is: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}." if names else ""


def _item(schema: Schema, name: str, number: int) -> Schema | NotThere:
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "array":
        return NotThere(f"`{name}` is {kind}, not a list, so it has no item {number}.")
    items: Schema = schema.get("items", UNKNOWN)
    return items


def _field(schema: Schema, name: str, key: str) -> Schema | NotThere:
    kind, fields = schema.get("type"), schema.get("properties")
    if key == "__error" and schema.get(_MAY_FAIL):
        return PROBLEM_SCHEMA
    if kind == "array":
        return NotThere(f"`{name}` is a list and has no field `{key}`.", f"Write `{name}[0].{key}` for one item.")
    if isinstance(kind, str) and kind != "object":
        return NotThere(f"`{name}` is {kind} and has no field `{key}`.")
    if fields is None or (key not in fields and schema.get("additionalProperties")):
        return UNKNOWN
    if key not in fields:
        return NotThere(f"`{name}.{key}` is not given by `{name}`.", _given(name, key, fields))
    found = fields[key]
    return found if isinstance(found, Mapping) else UNKNOWN


def _given(name: str, key: str, fields: Iterable[str]) -> str:
    listed = f"It gives: {', '.join(fields)}."
    found = get_close_matches(key, list(fields), n=1)
    return f"{listed}  Did you mean `{name}.{found[0]}`?" if found else listed


def _with_branches(step: Step) -> Iterator[Step]:
    yield step
    for branch in step.parallel:
        yield from _with_branches(branch)
