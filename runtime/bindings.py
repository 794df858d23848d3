"""Bindings: `{{ step.field }}` in a plan, filled by code and never by a model.

A binding holds a JSONPath (https://www.rfc-editor.org/rfc/rfc9535) without its leading `$.`; the first name is a root:
a parameter of the plan, a finished step, `item`, `index`, `context` or `known_at`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from contracts import Json
from runtime.errors import InvalidArguments

if TYPE_CHECKING:
    from jsonpath import JSONPath

_BINDING = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:0|[1-9]\d{0,14})\])*", re.ASCII)
"""Paths of names and positions, which nearly all are: reading those takes no library."""
_SPREAD = re.compile(rf"{_PLAIN.pattern}(?:\[\*\](?:\.[A-Za-z_]\w*|\[(?:0|[1-9]\d{{0,14}})\])*)+", re.ASCII)
"""Paths that also say `[*]`, every item, of which the same is true."""
_PARTS = re.compile(r"\w+|\*", re.ASCII)
_EVERY = "*"
_KEPT = 4_096

CONFIRMED_BY_PERSON = "confirmed_by_person"
"""Field of the output of an effect of which a person said that it happened; often there is no other."""
ONLY_CONFIRMED = (
    "of this effect is only known that it happened, because a person said so without telling what it gave "
    "(`silicon approvals decide CARD happened --output FILE` tells it)."
)


class BindingFault(ValueError):
    """The text between `{{` and `}}` is not a path."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What one binding reads."""

    text: str
    """The path as it is written."""
    root: str
    """Its first name."""
    path: tuple[str | int, ...]
    """The names and positions after the root, up to the first part that may stand for several values."""
    singular: bool
    """Whether it stands for exactly one value; otherwise it gives a list."""


def resolve(value: Json, roots: Mapping[str, Json]) -> Json:
    """Return `value` with every binding filled from `roots`.

    A text that is one binding takes the value with its type; a path that may stand for several values gives a list;
    inside other text, text goes in as it is and anything else as JSON. The content of a file (`{file, text}`) is passed
    on untouched, because SQL, scripts and templates have braces of their own.

    Raises:
        InvalidArguments: a binding is no path, or what it names is not there; the message says what is.
    """
    match value:
        case str():
            return _resolve_text(value, roots)
        case list():
            return [resolve(item, roots) for item in value]
        case dict() if not is_file(value):
            return {key: resolve(item, roots) for key, item in value.items()}
    return value


def rewritten(value: Json, anew: Callable[[str], str]) -> Json:
    """Return `value` with the inside of every binding put anew; nothing is resolved."""
    match value:
        case str():
            return _BINDING.sub(lambda found: f"{{{{ {anew(found[1].strip())} }}}}", value)
        case list():
            return [rewritten(item, anew) for item in value]
        case dict() if not is_file(value):
            return {key: rewritten(item, anew) for key, item in value.items()}
    return value


def references(value: Json) -> list[Reference]:
    """Return what the bindings in `value` read, in the order they stand there.

    Raises:
        BindingFault: a binding is no path.
    """
    return [reference_of(text) for text in texts_of(value)]


def texts_of(value: Json) -> Iterator[str]:
    """Yield the inside of every binding in `value`, also of those that are no path."""
    match value:
        case str():
            for found in _BINDING.finditer(value):
                yield found[1].strip()
            rest = _BINDING.sub("", value)
            if "{{" in rest:
                yield rest[rest.index("{{") :]
        case list():
            for item in value:
                yield from texts_of(item)
        case dict() if not is_file(value):
            for item in value.values():
                yield from texts_of(item)


def only_binding(text: str) -> str | None:
    """Return the inside of the binding that is the whole text, or None when the text is anything else."""
    whole = _BINDING.fullmatch(text.strip())
    return whole[1].strip() if whole and "}}" not in whole[1] else None


@lru_cache(_KEPT)
def reference_of(text: str) -> Reference:
    """Return what one binding reads; `text` is what stands between the braces. Raises BindingFault."""
    if _PLAIN.fullmatch(text):
        return Reference(text=text, root=_PARTS.findall(text)[0], path=_parts(text), singular=True)
    if _SPREAD.fullmatch(text):
        path = _parts(text)
        return Reference(text=text, root=_PARTS.findall(text)[0], path=path[: path.index(_EVERY)], singular=False)
    query = _query(text)
    names = [_only_key(segment) for segment in query.segments]
    root = names[0]
    if not isinstance(root, str):
        raise BindingFault(f"`{text}` must begin with a name.")
    known: list[str | int] = []
    for name in names[1:]:
        if name is None:
            break
        known.append(name)
    return Reference(text=text, root=root, path=tuple(known), singular=query.singular_query())


def is_file(value: Mapping[str, Any]) -> bool:
    """Whether `value` is the content of a file that the loader put in the place of its name."""
    return value.keys() == {"file", "text"}


def _resolve_text(text: str, roots: Mapping[str, Json]) -> Json:
    whole = only_binding(text)
    if whole is not None:
        return _look_up(whole, roots)
    return _BINDING.sub(lambda found: _as_text(_look_up(found[1].strip(), roots)), text)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(text: str, roots: Mapping[str, Json]) -> Json:
    try:
        reference = reference_of(text)
    except BindingFault as fault:
        raise InvalidArguments(str(fault), binding=text) from fault
    if reference.root not in roots:
        raise InvalidArguments(
            f"{{{{ {text} }}}}: there is no `{reference.root}`.{_offer(reference.root, roots)}", binding=text
        )
    if _SPREAD.fullmatch(text):
        return _spread(roots[reference.root], _parts(text))
    if not reference.singular:
        return cast(list[Json], _query(text).findall(roots))
    value: Any = roots[reference.root]
    for key in reference.path:
        fits = isinstance(value, list) if isinstance(key, int) else isinstance(value, Mapping)
        if not fits or not _has(value, key):
            raise InvalidArguments(f"{{{{ {text} }}}}: {_why_missing(reference, roots)}", binding=text)
        value = value[key]
    return cast(Json, value)


def _parts(text: str) -> tuple[str | int, ...]:
    """Return the names, positions and stars after the root of a path that takes no library."""
    return tuple(int(part) if part.isdigit() else part for part in _PARTS.findall(text)[1:])


def _spread(value: Json, path: tuple[str | int, ...]) -> list[Json]:
    """Return every value that a path with stars leads to; what is not there is passed over, as JSONPath does."""
    found: list[Any] = [value]
    for part in path:
        if part == _EVERY:
            found = [inner for each in found for inner in _inside(each)]
        elif isinstance(part, int):
            found = [each[part] for each in found if isinstance(each, list) and _has(each, part)]
        else:
            found = [each[part] for each in found if isinstance(each, Mapping) and part in each]
    return found


def _inside(value: Any) -> Iterable[Any]:
    """Return the items of a list or the values of an object; nothing else holds any."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _has(value: Any, key: str | int) -> bool:
    return -len(value) <= key < len(value) if isinstance(key, int) else key in value


def _why_missing(reference: Reference, roots: Mapping[str, Json]) -> str:
    value: Any = roots[reference.root]
    so_far = reference.root
    for key in reference.path:
        if value is None:
            return f"`{so_far}` has no value (the step was skipped, or gave none)."
        if isinstance(value, list) and isinstance(key, int):
            if not -len(value) <= key < len(value):
                return f"`{so_far}` has {len(value)} items; there is no item {key} (counted from 0)."
        elif not isinstance(value, Mapping):
            return f"`{so_far}` has no fields; it is {_as_text(value)[:80]}."
        elif key not in value and value == {CONFIRMED_BY_PERSON: True}:
            return f"`{so_far}` has no field `{key}`: {ONLY_CONFIRMED}"
        elif key not in value:
            return f"`{so_far}` has no field `{key}`.{_offer(str(key), value)}"
        value, so_far = value[key], f"{so_far}[{key}]" if isinstance(key, int) else f"{so_far}.{key}"
    return "nothing is there."


def _offer(name: str, there: Mapping[str, Any]) -> str:
    near = get_close_matches(name, there, n=1)
    if near:
        return f" Did you mean `{near[0]}`?"
    return f" There is: {', '.join(list(there)[:12])}{', …' if len(there) > 12 else ''}." if there else ""


@lru_cache(_KEPT)
def _query(text: str) -> JSONPath:
    import jsonpath

    try:
        query = jsonpath.compile(f"$.{text}", strict=True)
    except jsonpath.JSONPathError as error:
        reason = str(error).splitlines()[0]
        example = "Write for example `step.field` or `step.rows[0].x`."
        raise BindingFault(f"`{text}` is not a path ({reason}). {example}") from None
    if not isinstance(query, jsonpath.JSONPath) or any(map(_looks_outside, query.segments)):
        raise BindingFault(f"`{text}` is not one path; a filter may only look at `@`.")
    return query


def _only_key(segment: Any) -> str | int | None:
    """Return the one name or position that a part of a path stands for, or None when it may be several."""
    from jsonpath.segments import JSONPathChildSegment
    from jsonpath.selectors import IndexSelector, NameSelector

    if not isinstance(segment, JSONPathChildSegment) or len(segment.selectors) != 1:
        return None
    match segment.selectors[0]:
        case NameSelector(name=name):
            return str(name)
        case IndexSelector(index=index):
            return int(index)
    return None


def _looks_outside(segment: Any) -> bool:
    """Whether a filter in this part reads other roots, which no dependency would show."""
    from jsonpath.filter import RootFilterQuery

    waiting = [selector.expression for selector in segment.selectors if hasattr(selector, "expression")]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, RootFilterQuery):
            return True
        waiting.extend(expression.children())
    return False
