"""Orders that no slot could carry out: they call what needs a sandbox, and what only a bridge carries out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.organisation.check_skills import walk
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import PlanDefinition, Step, Tier
from runtime.capabilities.placing import BRIDGED, torn_between
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.other_way import other_ways


def slot_faults(draft: Draft) -> Iterator[Fault]:
    """Yield each call that needs a sandbox in an order that only a bridge could carry out.

    An execution skill is one order with all its steps. Of a cognitive skill, each form of a step that another employee
    does with `use` is one, together with what takes it back.
    """
    for skill in draft.skills.values():
        if skill.plan is None or skill.header is None:
            continue
        steps = [(step, path) for step, path in walk(skill.plan.value)]
        if skill.header.value.metadata.tier is Tier.EXECUTION:
            calls = [call for step, path in steps for call in _calls_of(draft, step, path)]
            yield from _faults(skill.plan, calls, _SPLIT)
            continue
        for step, path in steps:
            back = _way_back(draft, step, path)
            for form, place in _forms(step, path):
                if form.by is not None and form.use is not None:
                    yield from _faults(skill.plan, [*_called(draft, form, place), *back], _OTHER_BACK)


_SPLIT = (
    "Put the steps with {outside} into a skill of their own, and let a cognitive skill hand out both, each as a step "
    "with `by`."
)
_OTHER_BACK = (
    "What takes a step back belongs to its order: take it back with something that is done where the step itself is "
    "done, or do it in a step of its own."
)


@dataclass(frozen=True)
class _Call:
    spec: CapabilitySpec
    path: Path


def _faults(plan: Read[PlanDefinition], calls: Sequence[_Call], mend: str) -> Iterator[Fault]:
    torn = torn_between(call.spec for call in calls)
    if torn is None:
        return
    bridged = [call for call in calls if call.spec.kind == BRIDGED]
    names = ", ".join(f"`{name}`" for name in torn[1])
    lines = sorted({plan.source.line(call.path) for call in bridged})
    where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    for call in calls:
        if call.spec.sandboxed:
            yield plan.fault(
                call.path,
                f"`{call.spec.name}` needs a sandbox, and what a bridge carries out ({names}, {where}) has none: "
                "one order cannot hold both, for no node could take it.",
                mend.format(outside=names),
            )


def _calls_of(draft: Draft, step: Step, path: Path) -> Iterator[_Call]:
    for form, place in _forms(step, path):
        yield from _called(draft, form, place)
    yield from _way_back(draft, step, path)


def _forms(step: Step, path: Path) -> Iterator[tuple[Step, Path]]:
    yield step, path
    for said, form in other_ways(step):
        path = (*path, "otherwise")
        if not said.skip:
            yield form, path


def _called(draft: Draft, form: Step, path: Path) -> Iterator[_Call]:
    named: list[tuple[Path, str]] = [] if form.use is None else [((*path, "use"), form.use)]
    if form.react is not None:
        for field, tools in (("tools", form.tools), ("must_call", form.must_call)):
            named += [((*path, field, number), name) for number, name in enumerate(tools)]
    yield from (_Call(draft.specs[name], place) for place, name in named if name in draft.specs)


def _way_back(draft: Draft, step: Step, path: Path) -> list[_Call]:
    spec = None if step.compensate is None else draft.specs.get(step.compensate.use)
    return [] if spec is None else [_Call(spec, (*path, "compensate", "use"))]
