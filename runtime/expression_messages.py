"""What the expression library says, in plain sentences. The tests hold it to the wording of the library in use."""

from __future__ import annotations

import re

_SYNTAX: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Syntax error: .*'<EOF>'"), "The expression ends too early."),
    (re.compile(r"Syntax error: token recognition error at: '=[^=]*'"), "A single = is no comparison; write ==."),
    (re.compile(r"Syntax error: \w+ input '(?:and|AND)'"), "Write && for and."),
    (re.compile(r"Syntax error: \w+ input '(?:or|OR)'"), "Write || for or."),
    (re.compile(r"Syntax error: \w+ input '(?:not|NOT)'"), "Write ! for not."),
    (re.compile(r"Syntax error: token recognition error at: '(.+)'"), r"`\1` cannot stand in an expression."),
    (re.compile(r"Syntax error: missing '(.+?)' at '(.+?)'"), r"`\1` is missing before `\2`."),
    (re.compile(r"Syntax error: \w+ input '(.{1,40}?)' expecting.*"), r"`\1` is not expected here."),
    (re.compile(r"Syntax error: no viable alternative at input '(.{1,40}?)'.*"), r"`\1` cannot be understood."),
    (re.compile(r"Syntax error: (.*)"), r"It cannot be read: \1."),
)

_CHOICE = re.compile(r"(?i).*no matching overload.*_\?_:_")
_OVERLOAD = re.compile(r".*[Nn]o matching overloads? (?:found : |for )'?_?([^_'(]+?)_?'?(?: applied to ')?\((.*)\)'?")
_RUNTIME: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r'NOT_FOUND: Key not found in map : "?(.*?)"?$'), r"there is no field `\1`."),
    (re.compile(r'UNKNOWN: No value with name "(.*)" found.*'), r"`\1` has no value."),
    (re.compile(r".*Index error: index=(-?\d+) size=(\d+)"), r"there is no item \1, the list has \2 (counted from 0)."),
    (re.compile(r".*Integer value '(-?\d+)' out of range.*"), r"\1 is too large; whole numbers go up to 2^63 - 1."),
    (re.compile(r".*(?:integer|double|long) overflow"), "a number gets too large; whole numbers go up to 2^63 - 1."),
    (re.compile(r".*divide by zero"), "it divides by zero."),
    (re.compile(r".*Applying SELECT to non-message type"), "a field is read from something that has no fields."),
    (re.compile(r".*No matching overloads found : <jump_condition>"), "a condition inside is neither true nor false."),
)
_WORDS = {
    "null_type": "null (missing)",
    "int64": "a whole number",
    "int": "a whole number",
    "uint": "a whole number",
    "double": "a decimal number",
    "string": "text",
    "bool": "true/false",
    "list": "a list",
    "map": "an object",
    "dyn": "any value",
}


def fault_in_plain_words(what: str) -> str:
    """Return what the type checker found, as a sentence."""
    if _CHOICE.match(what):
        return "`a ? b : c` needs a condition before the question mark, and b and c of the same type."
    overload = _OVERLOAD.match(what)
    if overload:
        return _does_not_fit(overload)
    for pattern, words in _SYNTAX:
        match = pattern.match(what)
        if match:
            return match.expand(words)
    return what[:1].upper() + what[1:200].rstrip(".") + "."


def failure_in_plain_words(what: str) -> str:
    """Return why an evaluation failed, as the end of a sentence."""
    for pattern, words in _RUNTIME:
        match = pattern.match(what)
        if match:
            return match.expand(words)
    overload = _OVERLOAD.match(what)
    if overload:
        return _does_not_fit(overload)
    return what.partition(": ")[2] or what


def _does_not_fit(overload: re.Match[str]) -> str:
    kinds = [re.sub(r"[<(].*", "", kind).strip() for kind in re.split(r", (?![^<]*>)", overload[2])]
    said = " and ".join(_WORDS.get(kind, kind) for kind in kinds)
    mixed = {"int64", "double"} <= set(kinds)
    return f"`{overload[1]}` does not work on {said}." + (" Write double(…) around the whole number." if mixed else "")
