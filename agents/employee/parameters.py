"""The values of a plan's parameters: what was given, what has a default, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from contracts import Json, Parameter, PlanDefinition, ValueType
from runtime.errors import InvalidArguments


def passed_to(plan: PlanDefinition) -> dict[str, Parameter]:
    """Return the parameters of a skill's plan as its callers see them: `at` and `day` follow from the moment."""
    moments = {("at", ValueType.DATE_TIME), ("day", ValueType.DATE)}
    return {
        name: parameter.model_copy(update={"required": False}) if (name, parameter.type) in moments else parameter
        for name, parameter in plan.parameters.items()
    }


def complete(
    parameters: Mapping[str, Parameter],
    given: Mapping[str, Json],
    *,
    known_at: datetime,
    time_zone: str,
    whose: str,
    how: str = "with: {{{name}: …}}",
    language: str = "en",
) -> dict[str, Json]:
    """Return a value for every parameter.

    One that was not given gets its default; `at` (a date-time) and `day` (a date) the organisation's local time of
    `known_at`; one that is not required null. A null that was given is a value, and no default takes its place.

    Args:
        whose: whose parameters these are, for the message: `the skill explain-delays`.
        how: how one is passed, with `{name}` for the parameter.

    Raises:
        InvalidArguments: some are missing, null or unknown; the message names all of them.
    """
    values = {name: _value(name, parameters[name], given, known_at, time_zone) for name in parameters}
    missing = [name for name in parameters if values[name] is None and parameters[name].must_be_given]
    empty = [name for name in parameters if _is_empty(name, parameters[name], given)]
    unknown = [name for name in given if name not in parameters]
    faults = [f"- {name}: {_meaning(parameters[name], language)} Pass it as `{how.format(name=name)}`."
              for name in missing]  # fmt: skip
    faults += [f"- {name}: null was passed, which is no {parameters[name].type.value}. Leave it out to use its default."
               for name in empty]  # fmt: skip
    faults += [f"- {name}: there is no such parameter. {_near(name, parameters)}" for name in unknown]
    if faults:
        raise InvalidArguments(
            f"The parameters of {whose} are not complete. Nothing was run.\n" + "\n".join(faults),
            missing=list[Json]([*missing, *empty]),
            unknown=list[Json](unknown),
        )
    return values


def default_moment(name: str, kind: ValueType, known_at: datetime, time_zone: str) -> str | None:
    """Return the value of `at` or `day` when nothing else gives one: local wall-clock time of the organisation."""
    local = known_at.astimezone(ZoneInfo(time_zone)).replace(tzinfo=None)
    if name == "at" and kind is ValueType.DATE_TIME:
        return local.isoformat(timespec="seconds")
    if name == "day" and kind is ValueType.DATE:
        return local.date().isoformat()
    return None


def _value(
    name: str, parameter: Parameter, given: Mapping[str, Json], known_at: datetime, time_zone: str
) -> Json:  # fmt: skip
    if name in given:
        return given[name]
    if parameter.default is not None:
        return parameter.default
    return default_moment(name, parameter.type, known_at, time_zone)


def _is_empty(name: str, parameter: Parameter, given: Mapping[str, Json]) -> bool:
    """Whether null was given where it would hide a default."""
    hides = parameter.default is not None and parameter.type is not ValueType.ANY
    return hides and name in given and given[name] is None


def _meaning(parameter: Parameter, language: str) -> str:
    text = parameter.description
    if isinstance(text, dict):
        text = text.get(language, text.get("en", next(iter(text.values()), "")))
    words = f"{text.rstrip('.')} ({parameter.type.value})." if text else f"{parameter.type.value}."
    return words if parameter.example is None else f"{words} For example {parameter.example}."


def _near(name: str, parameters: Mapping[str, Parameter]) -> str:
    near = get_close_matches(name, parameters, n=1)
    return f"Did you mean {near[0]}?" if near else f"There is: {', '.join(parameters) or 'none'}."
