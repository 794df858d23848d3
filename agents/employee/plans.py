"""Plans of one step, for orders that have no skill's plan of their own.

Values that were bound once are never bound again: data may hold braces. They travel as inputs of the order, and the one
step reads them by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from contracts import Json, Name, Parameter, PlanDefinition, Step, StepId, ValueType
from runtime.bindings import is_file

DO = "do"
"""Id of the one step that does the work of an order."""
DELEGATE = "delegate"
"""Id of the one step that hands an order on, down the chain of command."""
_TAKEN = frozenset({"item", "index", "context", "known_at", DO, DELEGATE})


@dataclass(frozen=True, slots=True)
class Work:
    """What an order is made of: a plan and the values of its parameters."""

    plan: PlanDefinition
    inputs: dict[str, Json]


def call_of(use: str, arguments: Mapping[str, Json], *, resources: Collection[str] = (), **more: Any) -> Work:
    """Return the plan that calls one capability with exactly these arguments.

    Texts of `resources` (SQL, scripts, templates) stand in the plan itself, as in a plan written by hand. `more` are
    further fields of the step.
    """
    kept = {name: value for name, value in arguments.items() if name in resources and _is_safe(value)}
    bound, inputs = _as_inputs({name: value for name, value in arguments.items() if name not in kept})
    return _one_step(DO, inputs, use=use, arguments={**kept, **bound}, **more)


def handing_on(skill: Name, by: Name, inputs: Mapping[str, Json]) -> Work:
    """Return the plan that hands a skill's work to somebody further down."""
    bound, values = _as_inputs(inputs)
    return _one_step(DELEGATE, values, by=by, skill=skill, arguments=bound)


def _one_step(step_id: StepId, inputs: dict[str, Json], **fields: Any) -> Work:
    parameters = {name: Parameter(type=ValueType.ANY, required=False) for name in inputs}
    return Work(PlanDefinition(parameters=parameters, steps=(Step(id=step_id, **fields),)), inputs)


def _as_inputs(arguments: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the arguments as bindings, and the inputs that these bindings read."""
    names = {name: _input_name(name, number) for number, name in enumerate(arguments)}
    bound: dict[str, Json] = {name: f"{{{{ {names[name]} }}}}" for name in arguments}
    return bound, {names[name]: value for name, value in arguments.items()}


def _input_name(name: str, number: int) -> str:
    """Return the name itself where it can be a parameter, else one made for it."""
    usable = name.isascii() and name.isidentifier() and name.islower() and name[0].isalpha() and len(name) <= 64
    return name if usable and name not in _TAKEN and not name.startswith("argument_") else f"argument_{number}"


def _is_safe(value: Json) -> bool:
    return is_file(value) if isinstance(value, dict) else isinstance(value, str) and "{{" not in value
