"""The tools of one step as a model sees them, and its calls as they are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from contracts import Effect, Json, Step, Text
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.direct import stronger
from runtime.engine.react.control import CONTROL, control_tool
from runtime.engine.react.state import Call
from runtime.errors import InvalidArguments
from runtime.schema import fault_of, json_schema_of_parameters

_LONGEST_NAME = 64
"""Characters that model endpoints take in the name of a tool; letters, digits, `_` and `-` are allowed in it."""


class UnknownTool(InvalidArguments):
    """The model called a tool that the step does not have."""

    code = "UNKNOWN_TOOL"


class Toolbox:
    """The capabilities that a step names in `tools` and `must_call`, in that order, and `step_control`.

    An argument of the step that has the name of a parameter is bound to it: the model does not see it, code fills it.
    """

    def __init__(self, step: Step, specs: Iterable[CapabilitySpec], given: Mapping[str, Json]) -> None:
        self._step = step
        self._given = given
        self._specs: dict[str, CapabilitySpec] = {}
        for spec in specs:
            self._specs[_free_name(spec.name, self._specs)] = spec

    @property
    def shown_inputs(self) -> dict[str, Json]:
        """The step's arguments that no tool takes: what the model reads."""
        taken = {name for spec in self._specs.values() for name in spec.parameters}
        return {name: value for name, value in self._given.items() if name not in taken}

    def declarations(self) -> Sequence[Mapping[str, Any]]:
        """Return the tools in the form that model endpoints take."""
        tools = [_declared(name, spec.description, self._schema(spec)) for name, spec in self._specs.items()]
        return [*tools, control_tool(self._step.gives)]

    def spec_for(self, call: Call) -> CapabilitySpec:
        """Return the declaration of the tool that is called; raise UnknownTool with the nearest names."""
        spec = self._specs.get(call.name)
        if spec is None:  # models also write the name that people use
            spec = next((spec for spec in self._specs.values() if spec.name == call.name), None)
        if spec is None:
            known = [*self._specs, CONTROL]
            near = get_close_matches(call.name, known, n=2) or known
            raise UnknownTool(
                f"There is no tool {call.name!r} in this step. There is: {', '.join(near)}.",
                name=call.name,
                happened="no",
            )
        return spec

    def arguments_for(self, spec: CapabilitySpec, call: Call) -> dict[str, Json]:
        """Return what the capability is called with; raise InvalidArguments with every fault of what the model gave."""
        fault = call.fault or fault_of(dict(call.arguments), self._schema(spec))
        if fault:
            raise InvalidArguments(f"The arguments do not fit {call.name}: {fault}", use=spec.name, happened="no")
        return {**call.arguments, **self._bound(spec)}

    def origins_of(self, spec: CapabilitySpec) -> dict[str, Json]:
        """Return the bound arguments as the plan has them, bindings unresolved."""
        return {name: value for name, value in self._step.arguments.items() if name in spec.parameters}

    def effect_of(self, spec: CapabilitySpec) -> Effect:
        """Return what a call does to the world; what the step says makes no read an effect."""
        return spec.effect if spec.effect is Effect.READ else stronger(spec.effect, self._step.effect)

    def _bound(self, spec: CapabilitySpec) -> dict[str, Json]:
        return {name: value for name, value in self._given.items() if name in spec.parameters}

    def _schema(self, spec: CapabilitySpec) -> dict[str, Any]:
        open_ones = {name: parameter for name, parameter in spec.parameters.items() if name not in self._given}
        schema = json_schema_of_parameters(open_ones, open_arguments=spec.open_arguments)
        for name, parameter in open_ones.items():
            told: dict[str, Any] = {"description": in_language(parameter.description, "en")}
            if parameter.example is not None:
                told["examples"] = [parameter.example]
            schema["properties"][name] = {**schema["properties"][name], **told}
        return schema


def in_language(text: Text, language: str) -> str:
    """Return the words in the language, else in English, else the first there are."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """Return a name that model endpoints take and no other tool of the step has."""
    short = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:_LONGEST_NAME]
    free, number = short, 2
    while free in taken or free == CONTROL:
        free = f"{short[: _LONGEST_NAME - 4]}_{number}"
        number += 1
    return free


def _declared(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
