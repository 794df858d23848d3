"""From YAML to typed values, with every fault at its line."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path, YamlSource
from contracts import Money
from contracts.plan import LONGEST_S
from runtime.plain_words import in_plain_words, written_as

M = TypeVar("M", bound=BaseModel)

_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)$")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class Declared(BaseModel):
    """Something that stands in a file: frozen, closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


def seconds(value: object) -> float:
    """Return the seconds that a duration such as `30s`, `2h` or a bare number stands for; raise ValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _bounded(value, value)
    match = _DURATION.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is no duration; write for example 30s, 15min, 2h or 1d.")
    return timedelta(seconds=_bounded(float(match[1]) * _SECONDS[match[2]], value)).total_seconds()


def _bounded(spent: float, written: object) -> float:
    """Return the seconds as a float; raise ValueError for more than can be meant."""
    if not spent <= LONGEST_S:  # what is not a number is refused as well
        shown = str(written) if len(str(written)) <= 40 else f"{str(written)[:40]}…"
        raise ValueError(f"{shown} is longer than 10 years, the longest duration there is.")
    return float(spent)


Duration = Annotated[float, BeforeValidator(seconds)]
"""Seconds, written as `30s`, `15min`, `2h` or `1d`."""


def money_of(value: object) -> object:
    """Return the money in `5 USD`; nothing else is money."""
    if value is None or isinstance(value, str):
        return value if value is None else Money.parse(value)
    raise ValueError(f"`money` is written as `5 USD`, not {value!r}")


def one_or_more(value: object) -> object:
    """Return a list; one thing alone is a list of one."""
    return [value] if isinstance(value, str) else value


def read_as(model: type[M], source: YamlSource, value: Any, path: Path = ()) -> M | None:
    """Return the value as a `model`, or None after noting every fault in `source`."""
    if not isinstance(value, Mapping):
        what = "The file is empty." if value is None and not path else "Here must be `key: value` lines."
        if not source.faults or path:
            source.faults.append(source.fault(path, what))
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        told = {fault.line for fault in source.faults}  # what YAML could not read there explains the rest
        source.faults += [fault for fault in faults_of(error, source, model, path) if fault.line not in told]
        return None


def faults_of(error: ValidationError, source: YamlSource, model: Any, path: Path = ()) -> list[Fault]:
    """Return each fault that validation found, in plain words and at its line."""
    found: dict[tuple[Path, str], Fault] = {}
    for detail in error.errors(include_url=False):
        place = tuple(part for part in detail["loc"] if isinstance(part, str | int))
        where = _in_file(source, path, place)
        if _is_about_words(place, where):  # the members of this union would each complain in their own way
            words = f"`{where[-1] if where else ''}` must be text, or a text for each language."
            found[where, ""] = source.fault(where, words, "Write for example {en: …, zh: …}.")
            continue
        what, hint = _in_plain_words(detail, place, model)
        found.setdefault((where, what), source.fault(where, what, hint))
    return list(found.values())


def _is_about_words(place: Path, where: Path) -> bool:
    """Whether a value of type Text is meant, and which of its two forms was wrong does not matter."""
    beyond = [part for part in place if part not in where]
    return any(part == "str" or (isinstance(part, str) and part.startswith("dict[")) for part in beyond)


def nearest(name: str, there: Iterable[str]) -> str:
    """Return a hint at the nearest of the names there are, or at all of them."""
    names = sorted(there)
    near = get_close_matches(name, names, n=1)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"There is: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}." if names else ""


def _in_file(source: YamlSource, path: Path, place: Path) -> Path:
    """Drop the parts of a place that only validation knows, such as the name of a union's member."""
    for part in place:
        if (*path, part) in source.lines:
            path = (*path, part)
        elif part in _SHORT_FORMS and (*path, _SHORT_FORMS[str(part)]) in source.lines:
            path = (*path, _SHORT_FORMS[str(part)])
    return path


def _in_plain_words(detail: Any, place: Path, model: Any) -> tuple[str, str]:
    name = next((part for part in reversed(place) if isinstance(part, str)), "")
    name = _SHORT_FORMS.get(name, name)
    shown = f"`{name}`" if name else "It"
    value = detail["input"]
    told = "nothing" if value is None else f"{value!r}" if isinstance(value, str | int | float | bool) else "this"
    told = "a list" if isinstance(value, list | tuple) else "`key: value` lines" if isinstance(value, dict) else told
    context = detail.get("ctx", {})
    kind = detail["type"]
    if name in _SHORT_FORMS.values() and kind.startswith("float"):
        return f"`{name}` must be a duration such as 30s or 2h, not {told}.", ""
    match kind:
        case "missing":
            return f"`{name}` is missing.", ""
        case "extra_forbidden":
            return f"There is no field `{name}` here.", nearest(name, _fields_at(model, place[:-1]))
        case "string_pattern_mismatch":
            return f"{shown}: {told} is not written as it must be.", _pattern(str(context["pattern"]))
        case "enum" | "literal_error":
            return f"{shown} must be {context['expected']}, not {told}.", ""
        case "union_tag_invalid":
            return f"There is no kind {context['tag']!r}.", f"There is: {context['expected_tags']}."
        case "union_tag_not_found":
            return f"{shown} needs a `kind`.", ""
        case "value_error":
            text = str(context["error"]).strip()
            return text[:1].upper() + (text[1:] if text.endswith("?") else f"{text[1:].rstrip('.')}."), ""
    if kind in _MUST_BE:
        return f"{shown} must be {_MUST_BE[kind]}, not {told}.", ""
    return f"{shown} {in_plain_words(detail)}.", ""


_SHORT_FORMS = {"timeout_s": "timeout", "within_s": "within", "freshness_s": "freshness"}
"""Field of a contract → how it is written in files."""

_MUST_BE = {
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "`key: value` lines",
    "model_type": "`key: value` lines",
    "model_attributes_type": "`key: value` lines",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "decimal_parsing": "a number",
    "float_parsing": "a number",
    "float_type": "a number",
}


def _pattern(pattern: str) -> str:
    written = written_as(pattern)
    return f"{written[:1].upper()}{written[1:]}." if written else f"It must look like {pattern}."


def _fields_at(model: Any, place: Path) -> list[str]:
    """Return the names of the fields that the model has at a place inside it."""
    inside = [model]
    for part in place:
        inside = [found for kind in inside for found in _step_into(kind, part)]
    return sorted({name for kind in inside for name in _names_of(kind)})


def _step_into(kind: Any, part: str | int) -> list[Any]:
    found = []
    for member in _members(kind):
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name, field in member.model_fields.items():
                if part in (name, field.alias):
                    found.append(field.annotation)
            if any(part in typing.get_args(field.annotation) for field in member.model_fields.values()):
                found.append(member)  # the part names this member of a union by its kind
        else:
            found += typing.get_args(member)
    return found


def _members(kind: Any) -> list[Any]:
    """Return the members of a union, through annotations; anything else alone."""
    if typing.get_origin(kind) is Annotated:
        return _members(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [inner for member in typing.get_args(kind) for inner in _members(member)]
    return [kind]


def _names_of(kind: Any) -> list[str]:
    return [
        _SHORT_FORMS.get(name, field.alias or name)
        for member in _members(kind)
        if isinstance(member, type) and issubclass(member, BaseModel)
        for name, field in member.model_fields.items()
        if name != "schema_version"
    ]
