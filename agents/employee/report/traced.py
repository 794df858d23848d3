"""Values that know where they came from, and keep knowing it through arithmetic and filters."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from contracts import Json
from runtime.capabilities.port import Origin

_IDENTIFIER = re.compile(r"^[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*$")
"""A name that RFC 9535 lets stand after a dot."""
_OPEN = re.compile(r"\[\*\]|\.\.|\.\*|\[\?|\[-?\d*:|\[[^'\"\]]*,")
"""Parts of a path that may stand for several values."""


@dataclass(frozen=True, slots=True)
class Link:
    """One place in the output of one step."""

    step: str
    path: str
    value: Json
    """The value at that place; None for an object or array, which is found by its path."""
    result_sha256: str
    query_sha256: str | None = None
    data_sha256: str | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells it from other links."""
        return (self.step, self.path, self.result_sha256)


Links: TypeAlias = tuple[Link, ...]


class Printer(Protocol):
    """What turns a traced value into words, with its mark."""

    def print(self, value: Any, links: Links) -> str:
        """Return the words for `value`, safe as Markdown, followed by the mark for `links`."""
        ...


class Traced:
    """A number, text, truth value or missing value, with its links.

    It has no `__float__`, `__int__` or `__index__`: what cannot carry the links along is refused, so that no number
    slips into the text without its mark. Turning it into text is printing it.
    """

    __slots__ = ("links", "printer", "value")

    def __init__(self, value: Json, links: Links, printer: Printer) -> None:
        self.value = value
        self.links = links
        self.printer = printer

    def __str__(self) -> str:
        return self.printer.print(self.value, self.links)

    def __repr__(self) -> str:
        return f"Traced({self.value!r})"

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == plain(other))

    def __lt__(self, other: object) -> bool:
        return self._compare(other, operator.lt)

    def __le__(self, other: object) -> bool:
        return self._compare(other, operator.le)

    def __gt__(self, other: object) -> bool:
        return self._compare(other, operator.gt)

    def __ge__(self, other: object) -> bool:
        return self._compare(other, operator.ge)

    def __contains__(self, item: object) -> bool:
        return isinstance(self.value, str) and str(plain(item)) in self.value

    def __add__(self, other: object) -> Traced:
        return self._with(other, operator.add)

    def __radd__(self, other: object) -> Traced:
        return self._with(other, lambda mine, theirs: theirs + mine)

    def __sub__(self, other: object) -> Traced:
        return self._with(other, operator.sub)

    def __rsub__(self, other: object) -> Traced:
        return self._with(other, lambda mine, theirs: theirs - mine)

    def __mul__(self, other: object) -> Traced:
        return self._with(other, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Traced:
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: object) -> Traced:
        return self._with(other, lambda mine, theirs: theirs / mine)

    def __floordiv__(self, other: object) -> Traced:
        return self._with(other, operator.floordiv)

    def __rfloordiv__(self, other: object) -> Traced:
        return self._with(other, lambda mine, theirs: theirs // mine)

    def __mod__(self, other: object) -> Traced:
        return self._with(other, operator.mod)

    def __rmod__(self, other: object) -> Traced:
        return self._with(other, lambda mine, theirs: theirs % mine)

    def __neg__(self) -> Traced:
        return self._with(0, lambda mine, _: -mine)

    def __abs__(self) -> Traced:
        return self._with(0, lambda mine, _: abs(mine))

    def __round__(self, digits: int = 0) -> Traced:
        return self._with(0, lambda mine, _: round(mine, digits))

    def _with(self, other: object, operation: Callable[[Any, Any], Any]) -> Traced:
        """Return the outcome with both sides' links; missing stays missing, and so does a division by zero."""
        theirs = plain(other)
        links = union(self.links, links_of(other))
        if self.value is None or theirs is None:
            return Traced(None, links, self.printer)
        try:
            return Traced(operation(self.value, theirs), links, self.printer)
        except ZeroDivisionError:
            return Traced(None, links, self.printer)

    def _compare(self, other: object, operation: Callable[[Any, Any], Any]) -> bool:
        theirs = plain(other)
        if self.value is None or theirs is None:
            raise TypeError("a missing value is neither greater nor smaller than another; ask `is missing` first")
        return bool(operation(self.value, theirs))


class TracedMap(Mapping[str, Any]):
    """An object whose fields are traced."""

    __slots__ = ("fields", "links", "printer")

    def __init__(self, fields: dict[str, Any], links: Links, printer: Printer) -> None:
        self.fields = fields
        self.links = links
        self.printer = printer

    def __getitem__(self, key: object) -> Any:
        return self.fields[plain(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __str__(self) -> str:
        return self.printer.print(plain(self), links_of(self))


class TracedList:
    """An array whose items are traced; `whole` says whether it is the array of the source, item for item."""

    __slots__ = ("items", "links", "printer", "whole")

    def __init__(self, items: list[Any], links: Links, printer: Printer, *, whole: bool = True) -> None:
        self.items = items
        self.links = links
        self.printer = printer
        self.whole = whole

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = (plain(part) for part in (key.start, key.stop, key.step))
            return TracedList(self.items[slice(start, stop, step)], self.links, self.printer, whole=False)
        return self.items[plain(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item: object) -> bool:
        return any(plain(mine) == plain(item) for mine in self.items)

    def __str__(self) -> str:
        return self.printer.print(plain(self), links_of(self))


def trace(arguments: Mapping[str, Json], origins: Mapping[str, Origin], printer: Printer) -> dict[str, Any]:
    """Return the arguments as traced values; `origins` says by dotted path where each part came from."""
    known = {_dotted(where): origin for where, origin in origins.items()}
    return {name: _trace(value, name, None, known, printer) for name, value in arguments.items()}


def plain(value: Any) -> Any:
    """Return the value without its links, all the way down."""
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, TracedList | list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


def links_of(value: Any) -> Links:
    """Return the links of a value: its own, or those of its parts when it was put together from several."""
    if isinstance(value, Traced):
        return value.links
    if isinstance(value, TracedMap | TracedList) and value.links:
        return value.links
    if isinstance(value, Mapping):
        return union(*(links_of(item) for item in value.values()))
    if isinstance(value, TracedList | list | tuple):
        return union(*(links_of(item) for item in value))
    return ()


def union(*groups: Iterable[Link]) -> Links:
    """Return all links once, in the order in which they were met."""
    return tuple({link.place: link for group in groups for link in group}.values())


def child_path(path: str, key: str | int) -> str:
    """Return the JSON path of one field or item below `path`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _IDENTIFIER.match(key):
        quoted = key.replace("\\", "\\\\").replace("'", "\\'")
        return f"{path}['{quoted}']"
    return f"{path}.{key}" if path else key


def _trace(value: Json, where: str, base: Link | None, origins: Mapping[str, Origin], printer: Printer) -> Any:
    origin = origins.get(where)
    if origin is not None:
        base = Link(
            origin.step, origin.path, None, origin.result_sha256, origin.query_sha256, origin.data_sha256
        )  # fmt: skip
    match value:
        case dict():
            fields = {
                key: _trace(item, f"{where}.{key}", _below(base, key), origins, printer) for key, item in value.items()
            }
            return TracedMap(fields, () if base is None else (base,), printer)
        case list():
            items = [_trace(item, f"{where}.{i}", _below(base, i), origins, printer) for i, item in enumerate(value)]
            return TracedList(items, () if base is None else (base,), printer)
    if base is not None and not _OPEN.search(base.path):
        base = replace(base, value=value)
    return Traced(value, () if base is None else (base,), printer)


def _below(base: Link | None, key: str | int) -> Link | None:
    """Return the link of a part. A path with one `[*]` gave one item for each; other open paths keep their own link."""
    if base is None:
        return None
    if not _OPEN.search(base.path):
        return replace(base, path=child_path(base.path, key))
    if isinstance(key, int) and len(_OPEN.findall(base.path)) == 1 and "[*]" in base.path:
        return replace(base, path=base.path.replace("[*]", f"[{key}]"))
    return base


def _dotted(where: str) -> str:
    return re.sub(r"\[(\d+)\]", r".\1", where)
