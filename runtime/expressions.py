"""Conditions, checks, sensors and rules: expressions in CEL, checked before anything runs.

CEL is a small language without loops, side effects or clocks (https://cel.dev). The library is Google's own, with its
type checker; this module keeps compiled expressions and finds what they read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NoReturn

from cel_expr_python import cel

from contracts import Json, ValueType
from runtime.canonical import clean
from runtime.errors import CapabilityFailed
from runtime.expression_messages import failure_in_plain_words, fault_in_plain_words

_TYPES: Mapping[ValueType, Any] = {
    ValueType.STRING: cel.Type.STRING,
    ValueType.BOOLEAN: cel.Type.BOOL,
    ValueType.DATE: cel.Type.STRING,
    ValueType.DATE_TIME: cel.Type.STRING,
}
"""The rest is dynamic: JSON does not tell 1 from 1.0, so a declared number would make `value > 1` a type error."""

_CAN_BE_TRUE = ("BOOL", "DYN")
_ISSUE = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")
_KEPT = 4_096
_LONGEST = 4_000


class ExpressionFault(ValueError):
    """The text is not an expression that could run here."""

    def __init__(self, message: str, column: int = 1, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        """Where in the line, from 1."""
        self.line = line
        """Line of the expression, from 1."""


class ExpressionFailed(CapabilityFailed):
    """An expression met a missing value, or one of the wrong type."""

    code = "EXPRESSION_FAILED"


class Expression:
    """A compiled expression; made by `compile_expression`, may be used by several tasks at once."""

    def __init__(self, source: str, names: frozenset[str], compiled: Any) -> None:
        self.source = source
        self.names = names
        """The variables it was declared with."""
        self._compiled = compiled

    @property
    def is_condition(self) -> bool:
        """Whether the result can be true or false, as far as the type checker knows."""
        return self._compiled.return_type().name() in _CAN_BE_TRUE

    def evaluate(self, values: Mapping[str, Json]) -> Json:
        """Return the result; names of `values` that were not declared are left out of sight.

        Raises:
            ExpressionFailed: a value is missing, too large or of the wrong type.
        """
        result = self._compiled.eval(data=_needed(values, names_in(self.source)))
        if result.type() == cel.Type.ERROR or result.type() == cel.Type.UNKNOWN:
            reason = failure_in_plain_words(str(result.plain_value()))
            raise ExpressionFailed(f"`{self.source}` could not be worked out: {reason}", expression=self.source)
        return clean(result.plain_value())

    def holds(self, values: Mapping[str, Json]) -> bool:
        """Return whether the condition is true.

        Raises:
            ExpressionFailed: as in `evaluate`, and when the result is neither true nor false.
        """
        result = self.evaluate(values)
        if isinstance(result, bool):
            return result
        raise ExpressionFailed(
            f"`{self.source}` must be true or false, but it is {clean(result)!r}.", expression=self.source
        )


def compile_expression(source: str, variables: Mapping[str, ValueType]) -> Expression:
    """Return the expression ready to run, for values of the declared names; compiled ones are kept.

    Raises:
        ExpressionFault: it cannot be read, names something that is not declared, or mixes types.
    """
    return _compile(source, tuple(sorted(variables.items())))


def compile_condition(source: str, variables: Mapping[str, ValueType]) -> Expression:
    """Return the expression ready to run when it can be true or false; raise ExpressionFault as above if not."""
    expression = compile_expression(source, variables)
    if not expression.is_condition:
        raise ExpressionFault("It is never true or false; a condition compares something.")
    return expression


@lru_cache(_KEPT)
def names_in(source: str) -> tuple[tuple[str, ...], ...]:
    """Return what the expression reads from outside, as paths: `a.b > 1` gives `("a", "b")`.

    A path ends where a key is computed: `a.b["k"].c` gives `("a", "b")`. Text that is no expression gives nothing.
    """
    declared: dict[str, Any] = {}
    found: dict[tuple[str, ...], None] = {}
    while True:  # the checker names what is missing, up to 20 at a time
        issues = _issues(source, declared)
        names = [path for path in (_missing_name(source, *issue) for issue in issues) if path is not None]
        if not names:
            return tuple(found)
        found.update(dict.fromkeys(names))
        declared.update({path[0]: cel.Type.DYN for path in names})


def _needed(values: Mapping[str, Json], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """Return only what the expression reads: tables beside it cost nothing, and large numbers there do no harm."""
    needed: dict[str, Any] = {}
    for path in sorted(paths, key=len, reverse=True):  # a whole value comes after its parts and replaces them
        _copy_path(values, needed, path)
    return needed


def _copy_path(source: Mapping[str, Any], target: dict[str, Any], path: tuple[str, ...]) -> None:
    name, *rest = path
    if name not in source:
        return
    value = source[name]
    if rest and isinstance(value, Mapping):
        _copy_path(value, target.setdefault(name, {}), tuple(rest))
    else:
        target[name] = value


@lru_cache(_KEPT)
def _compile(source: str, variables: tuple[tuple[str, ValueType], ...]) -> Expression:
    if len(source) > _LONGEST:
        raise ExpressionFault(f"The expression has {len(source)} characters; {_LONGEST} are the limit.")
    declared = {name: _TYPES.get(type_, cel.Type.DYN) for name, type_ in variables}
    try:
        compiled = cel.NewEnv(variables=declared).compile(source)
    except RuntimeError as error:
        _refuse(source, _parse_issues(str(error)), declared)
    return Expression(source, frozenset(declared), compiled)


def _issues(source: str, declared: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    try:
        cel.NewEnv(variables=declared).compile(source)
    except RuntimeError as error:
        return _parse_issues(str(error))
    return []


def _parse_issues(text: str) -> list[tuple[int, int, str]]:
    return [(int(line), int(column), what) for line, column, what in _ISSUE.findall(text)]


def _missing_name(source: str, line: int, column: int, what: str) -> tuple[str, ...] | None:
    match = _UNDECLARED.match(what)
    if match is None or _is_call(source, line, column, match[1]):
        return None
    return tuple(match[1].lstrip(".").split("."))


def _is_call(source: str, line: int, column: int, path: str) -> bool:
    """Whether the name stands before a bracket, as a function does; the checker's finger is on the bracket then."""
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return False
    before, at = lines[line - 1][: column - 1], lines[line - 1][column - 1 : column]
    return at == "(" and before.rstrip().endswith(path.rpartition(".")[2])


def _refuse(source: str, issues: list[tuple[int, int, str]], declared: Iterable[str]) -> NoReturn:
    if not issues:
        raise ExpressionFault("The expression is nested too deeply, or is none.")
    line, column, what = issues[0]
    match = _UNDECLARED.match(what)
    if match and _is_call(source, line, column, match[1]):
        raise ExpressionFault(f"There is no function `{match[1]}`.", max(1, column - len(match[1])), line)
    if match:
        raise ExpressionFault(_not_declared(match[1], declared), _start_of(source, line, column, match[1]), line)
    raise ExpressionFault(fault_in_plain_words(what), max(1, column), max(1, line))


def _start_of(source: str, line: int, column: int, path: str) -> int:
    """Return where a dotted name begins; the checker's finger is on its last dot, or on the bracket of `has(`."""
    at = source.split("\n")[line - 1][column - 1 : column]
    if at == "(":
        return column + 1
    return max(1, column - len(path.rpartition(".")[0])) if at == "." else column


def _not_declared(path: str, declared: Iterable[str]) -> str:
    root = path.partition(".")[0]
    names = sorted(declared)
    near = get_close_matches(root, names, n=1)
    if near:
        return f"There is no `{root}` here. Did you mean `{near[0]}`?"
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"There is no `{root}` here." + (f" There is: {listed}." if names else "")
