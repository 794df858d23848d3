"""Values of a plan's parameters as people type them: the declaration says what the text means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from difflib import get_close_matches

from console.views import RunOptions
from contracts import Json, Money, Parameter, ValueType
from runtime.errors import InvalidArguments
from runtime.schema import fault_of, json_schema_of_parameters
from runtime.strict_json import read_json

_SHOWN = 200
"""Letters of a value in an error."""


def parameters_of(options: RunOptions, declared: Mapping[str, Parameter]) -> dict[str, Json]:
    """Return the parameters that a person or program gave, as text or as values; raises as `read_values`."""
    return {**read_values(options.given, declared), **checked_values(options.values, declared)}


def checked_values(given: Mapping[str, Json], declared: Mapping[str, Parameter]) -> dict[str, Json]:
    """Return the values that a program gave once each fits its declaration; raises as `read_values`."""
    faults: list[Json] = [_unknown(name, declared) for name in given if name not in declared]
    known = {name: declared[name] for name in given if name in declared}
    for name, parameter in known.items():
        fault = fault_of({name: given[name]}, json_schema_of_parameters({name: parameter}))
        if fault is not None:
            faults.append(fault)
    if faults:
        raise InvalidArguments("\n".join(map(str, faults)), faults=faults)
    return dict(given)


def read_values(given: Mapping[str, str], declared: Mapping[str, Parameter]) -> dict[str, Json]:
    """Return the values that `given` means; parameters that are not given are left out.

    What is missing is told by `agents.employee.root_order`, which knows what the moment of the request fills in.

    Raises:
        InvalidArguments: names that are not declared and values that do not fit, all at once.
    """
    values: dict[str, Json] = {}
    faults: list[Json] = []
    for name, text in given.items():
        if name not in declared:
            faults.append(_unknown(name, declared))
            continue
        try:
            values[name] = _read(text, declared[name])
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise InvalidArguments("\n".join(map(str, faults)), faults=faults)
    return values


def _unknown(name: str, declared: Mapping[str, Parameter]) -> str:
    close = get_close_matches(name, declared, n=1)
    if close:
        return f"{name} is not a parameter. Did you mean {close[0]}?"
    there = f"There are: {', '.join(declared)}." if declared else "The skill takes none."
    return f"{name} is not a parameter. {there}"


def _read(text: str, parameter: Parameter) -> Json:
    value = _READERS.get(parameter.type, _any)(text)
    if parameter.choices and value not in parameter.choices:
        allowed = ", ".join(str(choice) for choice in parameter.choices)
        raise ValueError(f"{_short(text)} is not one of {allowed}.")
    return value


def _integer(text: str) -> Json:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{_short(text)} is not a whole number.") from None


def _number(text: str) -> Json:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{_short(text)} is not a number.") from None
    if not math.isfinite(value):
        raise ValueError(f"{_short(text)} is not a number that can be worked with.")
    return int(value) if value.is_integer() and "e" not in text.lower() and "." not in text else value


def _boolean(text: str) -> Json:
    word = text.strip().lower()
    if word not in ("true", "false", "yes", "no"):
        raise ValueError(f"{_short(text)} is not true or false.")
    return word in ("true", "yes")


def _date(text: str) -> Json:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{_short(text)} is not a date; write it as 2013-02-08.") from None


def _moment(text: str) -> Json:
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{_short(text)} is not a moment; write it as 2013-02-08T17:00.") from None


def _money(text: str) -> Json:
    return Money.parse(text).to_json()


def _structure(kind: type) -> Callable[[str], Json]:
    def read(text: str) -> Json:
        try:
            value = read_json(text)
        except ValueError as error:
            raise ValueError(f"{_short(text)} is not JSON: {error}.") from None
        except RecursionError:
            raise ValueError("the JSON has too many brackets inside each other.") from None
        if not isinstance(value, kind):
            raise ValueError(f"{_short(text)} is not a JSON {'array' if kind is list else 'object'}.")
        return value

    return read


def _any(text: str) -> Json:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _text(text: str) -> Json:
    return text


_READERS: Mapping[ValueType, Callable[[str], Json]] = {
    ValueType.STRING: _text,
    ValueType.INTEGER: _integer,
    ValueType.NUMBER: _number,
    ValueType.BOOLEAN: _boolean,
    ValueType.DATE: _date,
    ValueType.DATE_TIME: _moment,
    ValueType.MONEY: _money,
    ValueType.ARRAY: _structure(list),
    ValueType.OBJECT: _structure(dict),
}
