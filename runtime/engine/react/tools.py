"""The tools of one step as a model sees them, and its calls as they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from contracts import Effect, Json, Step
from runtime.capabilities.port import CapabilitySpec
from runtime.context.inspect import INSPECT
from runtime.engine.direct import stronger
from runtime.engine.react.control import CONTROL, control_tool
from runtime.engine.react.offer import OWN
from runtime.engine.react.state import Call, Turn
from runtime.errors import InvalidArguments
from runtime.model.requests.names import names_of
from runtime.once import once_for_each
from runtime.schema import fault_of, json_schema_of_parameters
from runtime.texts import in_language

_NAMESAKE = ":capability"
"""Behind the name of a capability that is the name of a tool of the engine; no other has a colon in its name."""


RESERVED = frozenset({"working_memory", *INSPECT})
"""Names of tools of the engine beside `step_control`, whether a step has them or not."""


class UnknownTool(InvalidArguments):
    """The model called a tool that the step does not have."""

    code = "UNKNOWN_TOOL"


class Toolbox:
    """The capabilities that a step names in `tools` and `must_call`, in that order, and `step_control`.

    An argument of the step that has the name of a parameter is bound to it: the model does not see it, code fills it.
    """

    def __init__(
        self, step: Step, specs: Iterable[CapabilitySpec], given: Mapping[str, Json],
        *, own: Sequence[CapabilitySpec] = (),
    ) -> None:  # fmt: skip
        """Take over what the step's model may call, and the tools of the engine that it is given beside."""
        self._step = step
        self._given = given
        taken = {CONTROL, *RESERVED}
        self._specs = {f"{spec.name}{_NAMESAKE}" if spec.name in taken else spec.name: spec for spec in specs}
        self._specs |= {spec.name: spec for spec in own}
        self._names = names_of((*self._specs, CONTROL), frozenset())
        self._declared: Sequence[Mapping[str, Any]] | None = None

    def offer(self, own: Iterable[CapabilitySpec]) -> None:
        """Add tools of the engine; those that are there stay as they are."""
        new = {spec.name: spec for spec in own if spec.name not in self._specs}
        if new:
            self._specs |= new
            self._names = names_of((*self._specs, CONTROL), frozenset())
            self._declared = None

    @property
    def uses(self) -> Sequence[str]:
        """The names of everything that may be called, apart from `step_control`."""
        return [spec.name for spec in self._specs.values()]

    @property
    def shown_inputs(self) -> dict[str, Json]:
        """The step's arguments that no tool takes: what the model reads."""
        taken = {name for spec in self._specs.values() for name in spec.parameters}
        return {name: value for name, value in self._given.items() if name not in taken}

    def declarations(self) -> Sequence[Mapping[str, Any]]:
        """Return the tools in the form of the protocol, under our names: the same objects each time."""
        if self._declared is None:
            tools = [self._declaration(name, spec) for name, spec in self._specs.items()]
            self._declared = (*tools, _control_of(self._step))
        return self._declared

    def spec_for(self, call: Call) -> CapabilitySpec:
        """Return the declaration of the tool that is called; raise UnknownTool with the nearest names."""
        spec = self._specs.get(self._names.real(call.name))
        if spec is None:
            known = [*self._specs, CONTROL]
            near = get_close_matches(call.name, known, n=2) or known
            raise UnknownTool(
                f"There is no tool {call.name!r} in this step. There is: {', '.join(near)}.",
                name=call.name,
                happened="no",
            )
        return spec

    def is_own(self, call: Call) -> bool:
        """Whether a tool of the engine is called: it takes references as they are."""
        spec = self._specs.get(self._names.real(call.name))
        return spec is not None and spec.kind == OWN

    def arguments_for(self, spec: CapabilitySpec, call: Call) -> dict[str, Json]:
        """Return what the capability is called with; raise InvalidArguments with every fault of what the model gave."""
        given = call.arguments if call.whole is None else call.whole
        fault = call.fault or call.unknown_reference or fault_of(dict(given), self._schema(spec))
        if fault:
            raise InvalidArguments(f"The arguments do not fit {call.name}: {fault}", use=spec.name, happened="no")
        return {**given, **self._bound(spec)}

    def origins_of(self, spec: CapabilitySpec) -> dict[str, Json]:
        """Return the bound arguments as the plan has them, bindings unresolved."""
        return {name: value for name, value in self._step.arguments.items() if name in spec.parameters}

    def ending(self, turn: Turn) -> Call | None:
        """Return the call of this answer whose result is that of the step, if there is one."""
        return next((call for call in turn.calls if call.result is not None and self._ends(call.use)), None)

    def _ends(self, use: str | None) -> bool:
        return any(spec.ends_step for spec in self._specs.values() if spec.name == use)

    def effect_of(self, spec: CapabilitySpec) -> Effect:
        """Return what a call does to the world; what the step says makes no read an effect."""
        return spec.effect if spec.effect is Effect.READ else stronger(spec.effect, self._step.effect)

    def _bound(self, spec: CapabilitySpec) -> dict[str, Json]:
        return {name: value for name, value in self._given.items() if name in spec.parameters}

    def _declaration(self, name: str, spec: CapabilitySpec) -> Mapping[str, Any]:
        if name == spec.name and self._given.keys().isdisjoint(spec.parameters):
            return _declared_whole(spec)
        return _declared(name, spec, self._schema(spec))

    def _schema(self, spec: CapabilitySpec) -> dict[str, Any]:
        return _schema_of(spec, self._given)


@once_for_each(4_096)
def _declared_whole(spec: CapabilitySpec) -> Mapping[str, Any]:
    """Return the declaration of a tool that has nothing bound: one object, by which it is known again."""
    return _declared(spec.name, spec, _schema_of(spec, {}))


@once_for_each(1_024)
def _control_of(step: Step) -> Mapping[str, Any]:
    return control_tool(step.gives)


def _declared(name: str, spec: CapabilitySpec, schema: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": spec.description, "parameters": schema}
    return {"type": "function", "function": function}


def _schema_of(spec: CapabilitySpec, given: Mapping[str, Json]) -> dict[str, Any]:
    open_ones = {name: parameter for name, parameter in spec.parameters.items() if name not in given}
    if spec.schema is not None:
        return _without(spec.schema, given)
    schema = json_schema_of_parameters(open_ones, open_arguments=spec.open_arguments)
    for name, parameter in open_ones.items():
        told: dict[str, Any] = {"description": in_language(parameter.description, "en")}
        if parameter.example is not None:
            told["examples"] = [parameter.example]
        schema["properties"][name] = {**schema["properties"][name], **told}
    return schema


def _without(schema: Mapping[str, Any], given: Mapping[str, Json]) -> dict[str, Any]:
    """Return a declared schema without the arguments that code fills in."""
    shown = {name: each for name, each in schema.get("properties", {}).items() if name not in given}
    required = [name for name in schema.get("required", ()) if name not in given]
    return {**schema, "properties": shown, "required": required}
