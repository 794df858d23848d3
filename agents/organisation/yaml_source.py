"""YAML with positions: values as the YAML 1.2 core schema reads them, and the line on which each stands."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from agents.organisation.fault import Fault

Path: TypeAlias = tuple[str | int, ...]

_DEEPEST = 100
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"^(?:[-+]?[0-9](?:_?[0-9])*|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {_TAG + kind for kind in ("null", "bool", "int", "float", "str", "map", "seq")}


class _CoreLoader(yaml.CSafeLoader):
    """The C parser with the core schema: `no`, `on` and dates stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (the name and type are the library's)


_CoreLoader.add_implicit_resolver(_TAG + "bool", _BOOL, list("tTfF"))
_CoreLoader.add_implicit_resolver(_TAG + "int", _INT, list("-+0123456789"))
_CoreLoader.add_implicit_resolver(_TAG + "float", _FLOAT, list("-+.0123456789"))
_CoreLoader.add_implicit_resolver(_TAG + "null", _NULL, ["~", "n", "N", ""])


@dataclass
class YamlSource:
    """One YAML file, read."""

    file: str
    value: Any = None
    """None when it could not be read."""
    lines: dict[Path, int] = field(default_factory=dict)
    """Path of a value → line of its key or item."""
    faults: list[Fault] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line of the value, or of the nearest value around it that stands in the file."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return self.lines.get((), 1)

    def fault(self, path: Path, what: str, hint: str = "") -> Fault:
        """Return a fault at the place of a value."""
        return Fault(self.file, self.line(path), what, hint)


def read_yaml(file: str, text: str, *, first_line: int = 1) -> YamlSource:
    """Return the file's value with positions and with everything that YAML itself says is wrong."""
    source = YamlSource(file, lines={(): first_line})
    try:
        node = yaml.compose(text, Loader=_CoreLoader)
        if node is not None:
            source.value = _Builder(source, first_line).build(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + first_line
        source.faults.append(Fault(file, line, *_syntax(error, text, line - first_line)))
    except yaml.YAMLError as error:
        source.faults.append(Fault(file, first_line, f"This is not text that YAML can hold: {error}."))
    except RecursionError:
        source.faults.append(Fault(file, first_line, "The file is nested too deeply."))
    return source


class _Builder:
    """Turns nodes into values and notes where they stand."""

    def __init__(self, source: YamlSource, first_line: int) -> None:
        self._source = source
        self._first_line = first_line
        self._seen: set[int] = set()

    def build(self, node: yaml.Node, path: Path) -> Any:
        if id(node) in self._seen:
            return self._fault(node, "Anchors and aliases (`&`, `*`) are not used here.", "Write the value out again.")
        self._seen.add(id(node))
        if len(path) > _DEEPEST:
            return self._fault(node, "The file is nested too deeply.")
        if node.tag not in _PLAIN_TAGS:
            return self._fault(node, f"The tag {node.tag} means nothing here.", "Put text with ! in quotes.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(item, (*path, number)) for number, item in enumerate(node.value)]
        return self._scalar(node)

    def _item(self, node: yaml.Node, path: Path) -> Any:
        self._source.lines[path] = self._line(node)
        return self.build(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fault(key, "A key must be a word.", 'Put a binding in quotes: "{{ … }}".')
                continue
            name = str(key.value)
            if name in values:
                first = self._source.lines[(*path, name)]
                self._fault(key, f"`{name}` is here twice; it also stands in line {first}.", "Keep one of them.")
                continue
            if node.flow_style and " " in name and _is_nothing(value):
                self._fault(
                    key, f"`{name}` has no value; is it the rest of a text with a comma?", "Put the text in quotes."
                )
                continue
            self._source.lines[(*path, name)] = self._line(key)
            values[name] = self.build(value, (*path, name))
        return values

    def _scalar(self, node: yaml.Node) -> Any:
        text = str(node.value)
        match node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int" if len(text) < 100:
                return int(text.replace("_", ""), 0 if text[:2] in ("0o", "0x") else 10)
            case "float" if len(text) < 100:
                return self._float(node, text)
        return text

    def _float(self, node: yaml.Node, text: str) -> float | str:
        value = float(text)
        if math.isfinite(value):
            return value
        self._fault(node, f"`{text}` is too large a number.", "Write a smaller one, or put it in quotes as text.")
        return text

    def _line(self, node: yaml.Node) -> int:
        return int(node.start_mark.line) + self._first_line

    def _fault(self, node: yaml.Node, what: str, hint: str = "") -> None:
        self._source.faults.append(Fault(self._source.file, self._line(node), what, hint))


def _is_nothing(node: yaml.Node) -> bool:
    """Whether nothing stands there; an empty text in quotes is something."""
    return isinstance(node, yaml.ScalarNode) and not node.value and not node.style


_SYNTAX = (
    ("mapping values are not allowed", "This line is no `key: value`.", "Put text that has a colon in quotes."),
    ("could not find expected ':'", "A colon is missing after a key.", "Write `key: value`."),
    ("did not find expected key", "The indentation does not fit the lines above.", "Indent equal things equally."),
    ("did not find expected '-' indicator", "Something in this list is no item.", "Begin each item with `- `."),
    ("did not find expected ',' or", "A bracket is not closed, or a comma is missing.", ""),
    ("did not find expected node content", "A value is missing, or begins with a sign of YAML.", "Put it in quotes."),
    ("found unexpected end of stream", "A quotation mark is not closed.", ""),
    ("found undefined alias", "Anchors and aliases (`&`, `*`) are not used here.", "Put text with * in quotes."),
    ("expected a single document", "There is more than one document in the file.", "Take the line `---` out."),
    ("block sequence entries are not allowed", "A list item cannot stand here.", "Put it on lines of its own."),
)  # fmt: skip


def _syntax(error: yaml.MarkedYAMLError, text: str, index: int) -> tuple[str, str]:
    lines = text.splitlines()
    line = lines[index] if index < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())] or "'\\t'" in str(error.problem):
        return "A tab stands in the indentation.", "Use spaces."
    said = f"{error.problem or ''} {error.context or ''}"
    if "${" in line and '"' not in line and "'" not in line:
        return "`${…}` must stand in quotes here.", 'Write "${NAME}".'
    for words, what, hint in _SYNTAX:
        if words in said:
            return what, hint
    return f"YAML cannot read this: {error.problem or error}.", ""


def texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every text in a value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts(item, (*path, number))
