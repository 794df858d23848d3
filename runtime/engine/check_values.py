"""Bindings and expressions of a plan, held against what can be named at their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contracts import Json, ValueType
from runtime.bindings import BindingFault, is_file, only_binding, reference_of, texts_of
from runtime.engine.check_names import UNKNOWN, Names, NotThere, Schema, near
from runtime.engine.fault import Path, PlanFault
from runtime.expressions import ExpressionFailed, ExpressionFault, compile_condition, names_in


def binding_faults(value: Json, path: Path, names: Names) -> Iterator[PlanFault]:
    """Yield what is wrong with each binding in `value`, at the place where it stands."""
    match value:
        case str():
            for text in texts_of(value):
                found = schema_of_binding(text, names)
                if isinstance(found, NotThere):
                    yield PlanFault(path, found.message, found.hint)
        case list():
            for number, item in enumerate(value):
                yield from binding_faults(item, (*path, number), names)
        case dict() if not is_file(value):
            for key, item in value.items():
                yield from binding_faults(item, (*path, key), names)


def schema_of_binding(text: str, names: Names) -> Schema | NotThere:
    """Return the schema of what the inside of a binding gives, or why it gives nothing."""
    try:
        reference = reference_of(text)
    except BindingFault as fault:
        return NotThere(str(fault))
    found = names.find(reference.root, reference.path)
    if reference.root in names.null_at_first and reference.path and reference.singular:
        found = NotThere(
            f"`{text}` is not there in the first run: `{reference.root}` is null until it has given something.",
            f"Pass `{{{{ {reference.root} }}}}` whole and look into it inside the call.",
        )
    if isinstance(found, NotThere) or reference.singular:
        return found
    return {"type": "array"}


def schema_of_value(value: Json, names: Names) -> Schema | None:
    """Return the schema of a value that is one binding, or None for a value that stands in the plan itself."""
    if not isinstance(value, str) or not any(texts_of(value)):
        return None
    text = only_binding(value)
    if text is None:
        return {"type": "string"}
    found = schema_of_binding(text, names)
    return UNKNOWN if isinstance(found, NotThere) else found


def condition_faults(source: str, path: Path, names: Names, own: Schema | None = None) -> Iterator[PlanFault]:
    """Yield what is wrong with one condition. `own` is the output it judges; its fields come first."""
    fields: dict[str, Any] = dict((own or {}).get("properties", {}))
    names = names.with_(fields)
    wanted = [path[0] for path in names_in(source)]
    types = names.types(wanted)
    if own is not None and not fields:  # nobody declared the output, so any other name may be a field of it
        types = {**dict.fromkeys(wanted, ValueType.ANY), **types}
    missing = _names_not_there(source, names, types)
    if missing:
        yield from (PlanFault(path, fault.message, fault.hint) for fault in missing)
        return
    try:
        compile_condition(source, types)
    except ExpressionFault as fault:
        at = f" (column {fault.column})" if fault.column > 1 else ""
        yield PlanFault(path, f"`{source}`: {fault.message}{at}")


def always(source: str) -> bool | None:
    """Return what a condition is when it names nothing, or None when that cannot be told."""
    try:
        return compile_condition(source, {}).holds({})
    except (ExpressionFault, ExpressionFailed):
        return None


def _names_not_there(source: str, names: Names, types: dict[str, ValueType]) -> list[NotThere]:
    faults: list[NotThere] = []
    for root, *rest in names_in(source):
        if root in types and root not in names.roots:
            continue
        found = names.find(root, rest)
        if isinstance(found, NotThere):
            hint = found.hint or near(root, names.roots)
            faults.append(NotThere(f"`{source}`: {found.message}", hint.replace("{{ ", "").replace(" }}", "")))
    return faults
