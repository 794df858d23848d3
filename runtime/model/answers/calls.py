"""Calls put together from their parts, by index and by id, however few of both an endpoint sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.model.answers.fields import index_of, json_text_of, mapping_of, text_of
from runtime.model.answers.raw import RawCall
from runtime.strict_json import read_json


@dataclass(frozen=True, slots=True)
class _Part:
    """What one chunk says about one call."""

    index: int | None
    """The one that was sent, else the place in a list of several; None where neither tells anything."""
    ordered: bool
    """Whether the index was sent, and says where the call stands among all."""
    id: str
    name: str
    arguments: str

    @classmethod
    def of(cls, sent: Mapping[str, Any], place: int | None) -> _Part:
        function = mapping_of(sent.get("function")) or sent  # a few send name and arguments beside the id
        index = index_of(sent.get("index"))
        told = text_of(sent.get("id")), text_of(function.get("name")), json_text_of(function.get("arguments"))
        return cls(place if index is None else index, index is not None, *told)


@dataclass(slots=True)
class _Call:
    """A call of which more may come."""

    place: int
    """Where it stands among the calls."""
    index: int | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    """Of the arguments; they are joined when it matters, since there may be many."""
    length: int = 0

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def take(self, part: _Part) -> None:
        """Add what a part says; a part that says the whole call again says nothing new."""
        if part.name and part.name == self.name and self._says(part.arguments) and self._is_whole():
            return
        self.id = self.id or part.id
        # Some send the whole name again with every part, others send the name itself in parts.
        self.name += "" if part.name == self.name else part.name
        if part.arguments:
            self.parts.append(part.arguments)
            self.length += len(part.arguments)

    def goes_on_with(self, part: _Part) -> bool:
        """Tell whether a part of this index or id is a part of this call, and does not begin one of its own."""
        if not part.name or not self.parts:
            return True
        if part.name != self.name:
            return False
        begins = part.arguments.lstrip().startswith("{") and self._is_whole()
        return not begins or self._says(part.arguments)

    def _says(self, arguments: str) -> bool:
        return len(arguments) == self.length and arguments == self.arguments

    def _is_whole(self) -> bool:
        """Tell whether the arguments are an object already, so that more of them belong to another call."""
        last = next((part for part in reversed(self.parts) if part.strip()), "")
        return last.rstrip().endswith("}") and _is_object(self.arguments)


class Calls:
    """The calls of one answer, while they come."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, sent: Sequence[Any]) -> None:
        """Take in what one chunk says about calls; several without an index are calls of their own, in this order."""
        for place, each in enumerate(sent):
            part = _Part.of(mapping_of(each), place if len(sent) > 1 else None)
            if part.id or part.name or part.arguments:
                self._call_for(part).take(part)

    def take_whole(self, sent: Sequence[Any]) -> None:
        """Take in calls that are whole, each entry a call of its own whatever its id and index say."""
        for place, each in enumerate(sent):
            part = _Part.of(mapping_of(each), place)
            if part.id or part.name or part.arguments:
                self._begun(part, place).take(part)

    def whole(self) -> list[RawCall]:
        """Return the calls in their order."""
        ordered = sorted(self._calls, key=lambda call: call.place)
        return [RawCall(call.id, call.name, call.arguments) for call in ordered]

    def _call_for(self, part: _Part) -> _Call:
        found = self._found(part)
        if found is not None and found.goes_on_with(part):
            return found
        after_all = max((each.place for each in self._calls), default=-1) + 1
        return self._begun(part, part.index if part.ordered and part.index is not None else after_all)

    def _begun(self, part: _Part, place: int) -> _Call:
        call = _Call(place, part.index)
        self._calls.append(call)
        return call

    def _found(self, part: _Part) -> _Call | None:
        """Return the call of the same index and id, else the newest one that a part can mean."""
        fitting = [
            call for call in reversed(self._calls) if None in (part.index, call.index) or call.index == part.index
        ]
        same_id = next((call for call in fitting if part.id and call.id == part.id), None)
        if same_id is not None or not (part.id and part.name):
            # An id that is new, without a name, is the same call: some make up a new id for every part.
            return same_id or next(iter(fitting), None)
        return next((call for call in fitting if not call.id and None not in (part.index, call.index)), None)


def _is_object(text: str) -> bool:
    try:
        return isinstance(read_json(text), dict)
    except (ValueError, RecursionError):
        return False
