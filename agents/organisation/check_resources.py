"""What a skill's steps are given as text: scripts compile, templates can be filled, languages are spoken."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from agents.cognition import attribute_spec
from agents.employee.report.capability import SPEC as REPORT
from agents.employee.report.capability import names_in
from agents.employee.report.template import template_faults
from agents.organisation.check_skills import walk
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read, SkillDraft
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import Json, PlanDefinition, Step, Text
from runtime.bindings import is_file, texts_of
from runtime.capabilities import python_code
from runtime.capabilities.resources import name_of, text_of
from runtime.engine.other_way import other_ways
from runtime.texts import LANGUAGES

_TEXTS = typing.get_args(Text)[1]
"""The form of a Text that has one for each language."""


def resource_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with scripts, templates and languages."""
    for call in calls_in(draft):
        yield from _call_faults(call)
    for read in _with_texts(draft):
        yield from _text_faults(read, read.value, ())
    if draft.org is not None and draft.org.value.language not in LANGUAGES:
        yield draft.org.fault(("language",), f"`{draft.org.value.language}` is no language here.", _spoken())


def calls_in(draft: Draft) -> Iterator[Call]:
    """Yield every call that a step of any plan may make."""
    for skill in draft.skills.values():
        if skill.plan is not None:
            for step, path in walk(skill.plan.value):
                yield from _calls(skill, skill.plan, step, path)


@dataclass(frozen=True)
class Call:
    """One call of a capability that a step may make."""

    skill: SkillDraft
    plan: Read[PlanDefinition]
    step: Step
    use: str | None
    arguments: Mapping[str, Json]
    path: Path

    def fault(self, argument: Path, value: Json, line: int, what: str, hint: str = "") -> Fault:
        """Return a fault at a line of the file that `value` is, or where the plan writes the text itself."""
        if name := name_of(value):
            return Fault(f"skills/{self.skill.name}/{name}", line, what, hint)
        return self.plan.fault((*self.path, "with", *argument), f"Line {line} of the text: {what}", hint)


def _calls(skill: SkillDraft, plan: Read[PlanDefinition], step: Step, path: Path) -> Iterator[Call]:
    yield Call(skill, plan, step, step.use, step.arguments, path)
    other = path
    for said, form in other_ways(step):
        other = (*other, "otherwise")
        yield Call(skill, plan, step, form.use, said.arguments, other)
    if step.compensate is not None:
        yield Call(skill, plan, step, step.compensate.use, step.compensate.arguments, (*path, "compensate"))


def _call_faults(call: Call) -> Iterator[Fault]:
    if call.use in (python_code.SPEC.name, python_code.ONLINE_SPEC.name):
        yield from _script_faults(call)
    elif call.use == REPORT.name:
        yield from _template_faults(call)
        for name in ("template", "title"):
            yield from _key_faults(call, call.arguments.get(name), (name,))
    elif call.use == attribute_spec.SPEC.name:
        names = call.arguments.get("names")
        for name, value in names.items() if isinstance(names, dict) else ():
            yield from _key_faults(call, value, ("names", name))


def _script_faults(call: Call) -> Iterator[Fault]:
    script = call.arguments.get("script")
    if not is_written_out(script):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text_of(script), "script", "exec", dont_inherit=True)
    except SyntaxError as error:
        yield call.fault(("script",), script, error.lineno or 1, f"This is no Python: {error.msg}.")
    except (ValueError, MemoryError, RecursionError) as error:
        yield call.fault(("script",), script, 1, f"Python cannot read this: {error or type(error).__name__}.")


def _template_faults(call: Call) -> Iterator[Fault]:
    given = names_in(call.arguments)
    for path, template in _forms(call.arguments.get("template"), ("template",)):
        if is_written_out(template):
            for fault in template_faults(text_of(template), given):
                what = f"The step `{call.step.id}` does not give `{fault.name}`." if fault.name else fault.what
                hint = nearest(fault.name, given) if fault.name else ""
                yield call.fault(path, template, fault.line, what, hint)


def _forms(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield a text, or its form in each language."""
    if isinstance(value, dict) and not is_file(value):
        for language, text in value.items():
            yield (*path, language), text
    else:
        yield path, value


def is_written_out(value: Json) -> bool:
    """Whether the text is known already: the file that stands here, or text that no binding changes."""
    match value:
        case {"file": str(), "text": str()}:
            return True
        case str():
            return not any(texts_of(value))
    return False


def _key_faults(call: Call, value: Json, path: Path) -> Iterator[Fault]:
    if isinstance(value, dict) and not is_file(value):
        yield from _language_faults(call.plan, value, (*call.path, "with", *path))


def _language_faults(read: Read[typing.Any], texts: Mapping[str, object], path: Path) -> Iterator[Fault]:
    for language in texts:
        if language not in LANGUAGES:
            yield read.fault((*path, language), f"`{language}` is no language here.", _spoken())


def _spoken() -> str:
    return f"There is: {', '.join(LANGUAGES)}."


def _with_texts(draft: Draft) -> Iterator[Read[typing.Any]]:
    if draft.org is not None:
        yield draft.org
    yield from draft.metrics.values()
    yield from draft.sensors.values()
    for skill in draft.skills.values():
        if skill.plan is not None:
            yield skill.plan
        yield from skill.options.values()


def _text_faults(read: Read[typing.Any], value: object, path: Path) -> Iterator[Fault]:
    """Go through every field that is a Text, however deep."""
    match value:
        case BaseModel():
            for name, field in type(value).model_fields.items():
                inner, place = getattr(value, name), (*path, field.alias or name)
                if isinstance(inner, dict) and _TEXTS in typing.get_args(field.annotation):
                    yield from _language_faults(read, inner, place)
                else:
                    yield from _text_faults(read, inner, place)
        case tuple():
            for number, item in enumerate(value):
                yield from _text_faults(read, item, (*path, number))
        case dict():
            for name, item in value.items():
                yield from _text_faults(read, item, (*path, name))
