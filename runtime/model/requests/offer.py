"""The tools of a request as its endpoint gets them: named, normalised, the unusable ones left out with the reason.

What is worked out for a declaration is remembered for that very object, and for a tuple of them as a whole; whoever
makes declarations makes each once and never changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from runtime.canonical import clean_text
from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.names import Names, names_of
from runtime.model.requests.schemas import Normalised, normalise
from runtime.once import once_for_each

T = TypeVar("T")

NO_TOOL = "none"
"""What stands for "no tool" where an answer has to name one; no tool has it for an alias."""
_RESERVED = frozenset({NO_TOOL})
_MOST_DESCRIPTION = 1_024
"""Characters that endpoints take in the description of a tool."""
_MOST_TOOLS = 4_096
_MOST_OFFERS = 64


@dataclass(frozen=True, slots=True)
class Tool:
    """One declaration made fit."""

    name: str
    description: str
    form: Normalised | None
    why: str = ""
    """Why it has no form and is not offered."""
    _made: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False)

    def remembered(self, what: str, alias: str, make: Callable[[str, Tool], T]) -> T:
        """Return what is made of the tool under an alias, the same object each time."""
        if (what, alias) not in self._made:
            self._made[what, alias] = make(alias, self)
        made: T = self._made[what, alias]
        return made


@dataclass(frozen=True, slots=True)
class Offer:
    """All tools of a request."""

    names: Names
    tools: Mapping[str, Tool]
    """Alias → tool, in the order of the request."""
    entries: tuple[Mapping[str, Any], ...]
    dropped: tuple[tuple[str, str], ...]
    """Name and reason of those that are not offered."""

    def form(self, name: str) -> Normalised | None:
        """Return the form of a tool by our name or its alias."""
        tool = self.tools.get(self.names.alias(self.names.real(name)))
        return tool.form if tool is not None else None


def entry(alias: str, tool: Tool) -> Mapping[str, Any]:
    """Return a tool as the protocol has it."""
    assert tool.form is not None
    function: dict[str, Any] = {"name": alias, "description": tool.description, "parameters": tool.form.schema}
    if tool.form.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def offer_of(declarations: Sequence[Mapping[str, Any]], *, strict: bool) -> Offer:
    """Return the declarations made fit, strict where that is asked for and they can be."""
    if type(declarations) is tuple:
        return _strict_offer(declarations) if strict else _open_offer(declarations)
    return _made(declarations, strict=strict)


def _made(declarations: Sequence[Mapping[str, Any]], *, strict: bool) -> Offer:
    fit = _strict_tool if strict else _open_tool
    usable: dict[str, Tool] = {}
    dropped: list[tuple[str, str]] = []
    for tool in map(fit, declarations):
        if tool.form is None or tool.name in usable:
            dropped.append((tool.name, tool.why or "It is declared twice; the first one counts."))
        else:
            usable[tool.name] = tool
    names = names_of(tuple(usable), _RESERVED)
    tools = {names.alias(name): tool for name, tool in usable.items()}
    entries = tuple(tool.remembered("entry", alias, entry) for alias, tool in tools.items())
    return Offer(names, tools, entries, tuple(dropped))


def _fitted(declaration: Any, *, strict: bool) -> Tool:
    function = declaration.get("function") if isinstance(declaration, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str) or not name.strip():
        return Tool(str(name or "?"), "", None, "Its declaration has no function with a name.")
    description = clean_text(str(function.get("description") or ""))
    if len(description) > _MOST_DESCRIPTION:
        description = f"{description[: _MOST_DESCRIPTION - 1]}…"
    try:
        return Tool(name, description, normalise(function.get("parameters"), strict=strict))
    except UnusableSchema as error:
        return Tool(name, description, None, error.message)


@once_for_each(_MOST_TOOLS)
def _strict_tool(declaration: Mapping[str, Any]) -> Tool:
    return _fitted(declaration, strict=True)


@once_for_each(_MOST_TOOLS)
def _open_tool(declaration: Mapping[str, Any]) -> Tool:
    return _fitted(declaration, strict=False)


@once_for_each(_MOST_OFFERS)
def _strict_offer(declarations: tuple[Mapping[str, Any], ...]) -> Offer:
    return _made(declarations, strict=True)


@once_for_each(_MOST_OFFERS)
def _open_offer(declarations: tuple[Mapping[str, Any], ...]) -> Offer:
    return _made(declarations, strict=False)
