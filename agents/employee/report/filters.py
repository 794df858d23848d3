"""The filters and tests of report templates: each keeps the links of what it is given, or refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agents.employee.report.traced import Printer, Traced, TracedList, TracedMap, links_of, plain, union
from agents.employee.report.words import format_number

KEEP_ITEMS = (
    "list", "map", "reject", "rejectattr", "reverse", "select", "selectattr", "sort", "unique", "batch", "slice",
)  # fmt: skip
"""Filters of Jinja that give back the items they were given."""
KEEP_VALUE = ("attr", "default", "d", "dictsort", "first", "groupby", "indent", "items", "join", "last", "max", "min")
"""Filters of Jinja that give back one of the values they were given, or print them."""
CHANGE_VALUE = (
    "abs", "capitalize", "center", "float", "format", "int", "lower", "replace", "round", "string", "title", "trim",
    "truncate", "upper", "wordcount",
)  # fmt: skip
"""Filters of Jinja that make a new value: they run on plain values, and the outcome gets all their links."""
TESTS = (
    "boolean", "divisibleby", "eq", "equalto", "==", "even", "false", "float", "ge", ">=", "gt", "greaterthan", ">",
    "in", "integer", "iterable", "le", "<=", "lower", "lt", "lessthan", "<", "mapping", "ne", "!=", "none", "number",
    "odd", "sequence", "string", "true", "upper",
)  # fmt: skip
"""Tests of Jinja; they look at the plain value."""


def filters(builtin: Mapping[str, Any], printer: Printer) -> dict[str, Callable[..., Any]]:
    """Return every filter a template may use. What is random, or marks text as safe, is not among them."""
    kept = {name: _keeping_items(builtin[name], printer) for name in KEEP_ITEMS}
    same = {name: builtin[name] for name in KEEP_VALUE if name in builtin}
    changed = {name: _changing(builtin[name], printer) for name in CHANGE_VALUE}
    ours: dict[str, Callable[..., Any]] = {
        "number": number,
        "length": length(printer),
        "count": length(printer),
        "sum": total(printer),
    }
    return {**kept, **same, **changed, **ours}


def tests(builtin: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return every test a template may use; `missing` is one of them."""
    seen = {name: _on_plain(builtin[name]) for name in TESTS}
    return {**seen, "defined": builtin["defined"], "undefined": builtin["undefined"], "missing": _is_missing}


def number(value: Any, pattern: str) -> Any:
    """Return `value` in the form of `pattern`, with its links; a missing value stays missing."""
    if plain(value) is None:
        return value
    words = format_number(plain(value), str(plain(pattern)))
    return Traced(words, value.links, value.printer) if isinstance(value, Traced) else words


def length(printer: Printer) -> Callable[[Any], Any]:
    """Return the filter that counts the items of something."""

    def count(value: Any) -> Any:
        if isinstance(value, Traced):
            return Traced(len(str(value.value)), value.links, printer)
        return Traced(len(value), links_of(value), printer)

    return count


def total(printer: Printer) -> Callable[..., Any]:
    """Return the filter that adds up the items of something, or one field of each; one missing item: missing."""

    def add_up(value: Iterable[Any], attribute: str | None = None) -> Any:
        items = list(value)
        if attribute is not None:
            items = [item[attribute] for item in items]
        numbers = [plain(item) for item in items]
        links = union(*(links_of(item) for item in items)) or links_of(value)
        return Traced(None if None in numbers else sum(numbers), links, printer)

    return add_up


def _keeping_items(filter_: Callable[..., Any], printer: Printer) -> Callable[..., Any]:
    return _like(filter_, lambda result, given: TracedList(list(result), _list_links(given), printer, whole=False))


def _list_links(given: tuple[Any, ...]) -> Any:
    return union(*(item.links for item in given if isinstance(item, TracedList | TracedMap)))


def _changing(filter_: Callable[..., Any], printer: Printer) -> Callable[..., Any]:
    def change(*args: Any, **kwargs: Any) -> Any:
        takes = int(bool(_passes(filter_)))
        given = (*args[takes:], *kwargs.values())
        if any(isinstance(value, str) and "\ue000" in value for value in given):
            raise ValueError("the text already holds a mark; use the filter on the value before it is joined to text")
        if any(isinstance(value, Traced) and value.value is None for value in given[:1]):
            return given[0]
        result = filter_(*args[:takes], *map(plain, args[takes:]), **{k: plain(v) for k, v in kwargs.items()})
        links = links_of(given)
        return Traced(str(result) if isinstance(result, str) else result, links, printer) if links else result

    return _marked_like(filter_, change)


def _like(filter_: Callable[..., Any], then: Callable[[Any, tuple[Any, ...]], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return then(filter_(*args, **kwargs), args[int(bool(_passes(filter_))) :])

    return _marked_like(filter_, call)


def _passes(filter_: Callable[..., Any]) -> Any:
    """Return what Jinja passes to the filter first: its context, evaluation context or environment."""
    return getattr(filter_, "jinja_pass_arg", None)


def _marked_like(filter_: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    if _passes(filter_) is not None:
        ours.jinja_pass_arg = _passes(filter_)  # type: ignore[attr-defined]
    return ours


def _on_plain(test: Callable[..., Any]) -> Callable[..., Any]:
    def check(*args: Any) -> bool:
        return bool(test(*(value if hasattr(value, "call_filter") else plain(value) for value in args)))

    return _marked_like(test, check)


def _is_missing(value: Any) -> bool:
    return plain(value) is None
