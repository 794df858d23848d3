"""What an MCP server says of its tools, and how that differs from what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts import Effect, Json, ValueType
from runtime.canonical import clean, sha256
from runtime.capabilities.argument_schema import resolved, tells_more_than_types, without_words
from runtime.capabilities.connections_mcp import McpTool
from runtime.schema import fits, type_of

if TYPE_CHECKING:
    from mcp_types import Tool


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool as the server lists it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    says_it_writes: bool
    """Whether the server itself says that it changes something. That it says the contrary counts nothing."""
    sha256: str
    """Hash of all that says what it does and takes: name, description, schemas, annotations."""

    @classmethod
    def of(cls, tool: Tool) -> ListedTool:
        """Return the tool that the server lists."""
        hints = tool.annotations
        told = clean(tool.model_dump(
            mode="json", by_alias=True, exclude_none=True,
            include={"name", "description", "input_schema", "output_schema", "annotations"},
        ))  # fmt: skip
        writes = hints is not None and (hints.read_only_hint is False or hints.destructive_hint is True)
        return cls(tool.name, tool.description or "", tool.input_schema, writes, sha256(told))

    @property
    def parameters(self) -> dict[str, ValueType]:
        """Its arguments with the types by which they can be declared."""
        return {name: _type_of(schema) for name, schema in _properties(self.input_schema).items()}

    def declaration(self) -> dict[str, Json]:
        """Return what can be put under `tools`, but for the effect, which only a person can say.

        Where arguments have something inside them, their schema stands there, without the words of the server.
        """
        nested = self._nested()
        if nested is not None:
            return {"tool": self.name, "takes": nested, "sha256": self.sha256}
        needed = _required(self.input_schema)
        parameters: dict[str, Json] = {
            name: kind.value if name in needed else {"type": kind.value, "required": False}
            for name, kind in self.parameters.items()
        }
        return {"tool": self.name, "parameters": parameters, "sha256": self.sha256}

    def _nested(self) -> dict[str, Json] | None:
        """Return the schema of the arguments, None where it tells no more than types or cannot be used."""
        try:
            schema = resolved(self.input_schema)
        except ValueError:
            return None
        return without_words(schema) if tells_more_than_types(schema) else None


def differences(declared: McpTool, listed: ListedTool) -> Iterator[str]:
    """Yield how a declared tool differs from the one that the server lists."""
    if declared.sha256 not in (None, listed.sha256):
        yield f"it changed: declared is sha256 {declared.sha256}, it is {listed.sha256}"
    offered = listed.parameters
    closed = listed.input_schema.get("additionalProperties") is False or bool(offered)
    for name, parameter in declared.arguments.items():
        if name not in offered and closed:
            yield f"it takes no `{name}`"
        elif not fits(parameter.type, offered.get(name, ValueType.ANY)):
            yield f"`{name}` is {offered[name].value}, declared as {parameter.type.value}"
    for name in sorted(_required(listed.input_schema) - declared.arguments.keys()):
        yield f"it needs `{name}`, which is not declared"
    if declared.effect is Effect.READ and listed.says_it_writes:
        yield "it is declared as read, and the server says that it changes something"


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> set[str]:
    found = schema.get("required")
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def _type_of(schema: Any) -> ValueType:
    """Return the type of an argument; one that may also be null has that of what else it may be."""
    if not isinstance(schema, Mapping):
        return ValueType.ANY
    ways = schema.get("anyOf")
    if isinstance(ways, list):
        others = [way for way in ways if isinstance(way, Mapping) and way.get("type") != "null"]
        return _type_of(others[0]) if len(others) == 1 else ValueType.ANY
    return type_of(dict(schema))
