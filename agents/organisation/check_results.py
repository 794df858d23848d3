"""What connections say of results: the types of `gives` are types, and what `plausible` names is given."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.hints import LISTS
from agents.organisation.yaml_source import Path
from contracts import PlausibilityRule, ValueType
from runtime.capabilities.connections import AnyConnection
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check_names import NotThere, walk
from runtime.expressions import ExpressionFault, compile_condition, names_in
from runtime.schema import SchemaFault, field_schema, type_of

_BESIDE = {"mcp_tool": ("files", "links")}
"""What a result of this kind may have beside the declared fields."""


def result_faults(draft: Draft) -> Iterator[Fault]:
    """Yield types of `gives` that are none, and rules that name what their call does not give or cannot be judged.

    Rules of steps are looked at with their plan. A call that declares nothing of what it gives leaves that open.
    """
    for spec in draft.specs.values():
        name, _, operation = spec.name.partition(".")
        read = draft.connections.get(name)
        if read is None or not spec.gives or read.value.kind not in LISTS:
            continue
        place: Path = (name, LISTS[read.value.kind], operation)
        wrong = [*_type_faults(spec, read, (*place, "gives"))]
        yield from wrong
        for number, rule in enumerate(() if wrong else spec.plausible):
            yield from _rule_faults(spec, rule, read, (*place, "plausible", number, "check"))


def _type_faults(spec: CapabilitySpec, read: Read[AnyConnection], place: Path) -> Iterator[Fault]:
    for name, declared in spec.gives.items():
        try:
            field_schema(declared)
        except SchemaFault as fault:
            yield read.fault((*place, name), str(fault))


def _rule_faults(
    spec: CapabilitySpec, rule: PlausibilityRule, read: Read[AnyConnection], place: Path
) -> Iterator[Fault]:
    fields = {name: field_schema(declared) for name, declared in spec.gives.items()}
    beside = _BESIDE.get(spec.kind, ())
    missing = [root for root, *_ in names_in(rule.check) if root not in fields and root not in beside]
    for root in dict.fromkeys(missing):
        hint = nearest(root, fields) or f"It gives: {', '.join(fields)}."
        yield read.fault(place, f"`{rule.check}`: `{spec.name}` gives no `{root}`.", hint)
    if missing:
        return
    for root, *inner in names_in(rule.check):
        found = walk(fields[root], root, inner) if root in fields else {}
        if isinstance(found, NotThere):
            yield read.fault(place, f"`{rule.check}`: {found.message}", found.hint)
            return
    types = {**dict.fromkeys(beside, ValueType.ARRAY), **{name: type_of(each) for name, each in fields.items()}}
    try:
        compile_condition(rule.check, types)
    except ExpressionFault as fault:
        yield read.fault(place, f"`{rule.check}`: {fault.message}")
