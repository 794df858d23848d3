"""Tools of a model, held against what there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contracts import Step
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check_arguments import type_faults
from runtime.engine.check_names import Names, near
from runtime.engine.fault import Path, PlanFault


def tool_faults(step: Step, path: Path, specs: Mapping[str, CapabilitySpec], names: Names) -> Iterator[PlanFault]:
    """Yield tools that there are not, tools without a model, and arguments that a tool cannot be filled with."""
    for field, listed in (("tools", step.tools), ("must_call", step.must_call)):
        for number, name in enumerate(listed):
            if name not in specs:
                what = f"There is no capability `{name}`."
                yield PlanFault((*path, field, number), what, near(name, specs), missing=name)
    if step.react is None:
        if step.tools:
            what = f"`{step.id}` has tools and asks no model to use them."
            yield PlanFault((*path, "tools"), what, "Say with `react` what a model is to do, or name one with `use`.")
        return
    if step.by is not None:
        what = f"Whoever has the skill reasons in `{step.id}` itself; `by` cannot name another."
        yield PlanFault(
            (*path, "by"), what, "Give the other employee a skill with this step, and name it with `skill`."
        )
    for spec in (specs[name] for name in dict.fromkeys(tools_of(step)) if name in specs):
        yield from _bound_faults(step, spec, path, names)


def tools_of(step: Step) -> tuple[str, ...]:
    """Return the capabilities that a model may call in the step; none where it asks none."""
    return () if step.react is None else (*step.tools, *step.must_call)


def _bound_faults(step: Step, spec: CapabilitySpec, path: Path, names: Names) -> Iterator[PlanFault]:
    for name in step.arguments.keys() & spec.parameters.keys():
        place, value = (*path, "with", name), step.arguments[name]
        if name in spec.resources:
            what = f"`{name}` of `{spec.name}` takes the content of a file, which only a step with `use` fills in."
            yield PlanFault(place, what, "Give the step another name for what the model is to read.")
        else:
            yield from type_faults(spec.name, name, value, spec.parameters[name], place=place, names=names)
