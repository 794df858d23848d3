"""Reads the folder of one skill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from agents.cognition.advise.options import OptionsFile
from agents.organisation.declared import nearest, read_as
from agents.organisation.draft import Draft, Read, SkillDraft
from agents.organisation.fault import Fault
from agents.organisation.files import FileRefused, fault_of, text_of_file
from agents.organisation.foreign import ForeignHeader, give_plan, is_foreign, read_front_matter
from agents.organisation.packs import put_out_in_plan
from agents.organisation.skill_files import SkillHeader, plan_fields
from agents.organisation.yaml_source import Path, YamlSource, read_yaml
from contracts import PlanDefinition
from runtime.capabilities.port import CapabilitySpec

RESULT = "result.md.j2"
_HEADER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"^[\w./-]+\.(sql|py|sh|j2|md|txt|yaml|yml|json)$")
_STEP_ID = re.compile(r"(?:Two steps have the id |^)`?([a-z][a-z0-9_]*)`?(?:;| is both)")


def read_skill(name: str, draft: Draft) -> SkillDraft:
    """Return what can be read of one skill; faults go to the draft."""
    skill = SkillDraft(name)
    if is_foreign(name, draft.files.names()):
        _read_header(skill, draft, foreign=True)
        give_plan(skill, draft)
    else:
        _read_header(skill, draft, foreign=False)
        _read_plan(skill, draft)
    if result_file(name) in draft.files.names():
        skill.result = _text(draft, result_file(name), "") or ""
    return skill


def result_file(skill: str) -> str:
    """Return where the template stands in which a model is told what a skill gave, if there is one."""
    return f"skills/{skill}/{RESULT}"


def _text(draft: Draft, name: str, hint: str) -> str | None:
    try:
        return text_of_file(draft.files, name)
    except FileRefused as refused:
        missing = name not in draft.files.names()
        draft.faults.append(Fault(name, 0, "The file is missing.", hint) if missing else fault_of(name, refused))
        return None


def _read_header(skill: SkillDraft, draft: Draft, *, foreign: bool) -> None:
    path = f"skills/{skill.name}/SKILL.md"
    text = _text(draft, path, "It says what the skill is for: frontmatter with name, description and metadata.")
    if text is None:
        return
    match = _HEADER.match(text)
    if match is None:
        draft.faults.append(
            Fault(
                path,
                1,
                "The file has no frontmatter.",
                "Begin it with a line `---`, then name and description, then `---`.",
            )
        )
        return
    source = read_front_matter(path, match[1]) if foreign else read_yaml(path, match[1], first_line=2)
    header = _foreign_header(source) if foreign else read_as(SkillHeader, source, source.value)
    draft.faults += source.faults
    if header is None:
        return
    skill.header, skill.body = Read(header, source), match[2].strip()
    if header.name != skill.name:
        draft.faults.append(source.fault(("name",), f"The skill in the folder {skill.name} must have that name."))


def _foreign_header(source: YamlSource) -> SkillHeader | None:
    header = read_as(ForeignHeader, source, source.value)
    return header.as_header() if header is not None else None


def _read_plan(skill: SkillDraft, draft: Draft) -> None:
    path = f"skills/{skill.name}/plan.yaml"
    text = _text(draft, path, "It holds the steps.")
    if text is None:
        return
    source = read_yaml(path, text)
    readable = source.value
    value = plan_fields(readable)
    if isinstance(value, dict) and isinstance(value.get("steps"), list):
        put_out_in_plan(skill.name, value, source, draft)
        files = _SkillFiles(skill, draft, source)
        value["steps"] = [files.put_into(step, ("steps", number)) for number, step in enumerate(value["steps"])]
    plan = read_as(PlanDefinition, source, value)
    draft.faults += [_at_its_step(fault, source) for fault in source.faults]
    if plan is not None:
        skill.plan = Read(plan, source)


def _at_its_step(fault: Fault, source: YamlSource) -> Fault:
    """A fault of the whole plan that names a step belongs to the last step of that name."""
    match = _STEP_ID.search(fault.what)
    steps = source.value.get("steps") if isinstance(source.value, dict) else None
    if match is None or not isinstance(steps, list) or fault.line != source.line(()):
        return fault
    lines = [
        line for path, line in source.lines.items() if path and path[-1] == "id" and _at(source.value, path) == match[1]
    ]
    return Fault(fault.file, lines[-1], fault.what, fault.hint) if lines else fault


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


class _SkillFiles:
    """Puts the contents of a skill's files in the place of their names."""

    def __init__(self, skill: SkillDraft, draft: Draft, source: YamlSource) -> None:
        self._skill = skill
        self._draft = draft
        self._source = source
        self._folder = PurePosixPath("skills") / skill.name
        self._there = [
            name.removeprefix(f"{self._folder}/") for name in draft.files.names() if name.startswith(f"{self._folder}/")
        ]

    def put_into(self, step: Any, path: Path) -> Any:
        if not isinstance(step, dict):
            return step
        step = {**step, "with": self._arguments(step.get("use"), step.get("with"), path)} if "with" in step else step
        for name in ("otherwise", "compensate"):
            step = self._put_into_other(step, name, step.get("use"), path)
        if isinstance(step.get("parallel"), list):
            branches = enumerate(step["parallel"])
            step = {**step, "parallel": [self.put_into(branch, (*path, "parallel", n)) for n, branch in branches]}
        return step

    def _put_into_other(self, step: dict[str, Any], name: str, use: Any, path: Path) -> dict[str, Any]:
        """Return the step with files put into what it does otherwise, and into what that does otherwise."""
        other = step.get(name)
        if not isinstance(other, dict):
            return step
        use = other.get("use") or use
        if "with" in other:
            other = {**other, "with": self._arguments(use, other["with"], (*path, name))}
        return {**step, name: self._put_into_other(other, "otherwise", use, (*path, name))}

    def _arguments(self, use: Any, arguments: Any, path: Path) -> Any:
        spec: CapabilitySpec | None = self._draft.specs.get(use) if isinstance(use, str) else None
        if spec is None or not isinstance(arguments, Mapping):
            return arguments
        filled = dict(arguments)
        for name in spec.resources:
            place = (*path, "with", name)
            match filled.get(name):
                case str(value):
                    filled[name] = self._file_or_text(value, place)
                case dict(texts):  # one for each language
                    filled[name] = {key: self._file_or_text(text, (*place, key)) for key, text in texts.items()}
            if name == "options":
                self._read_options(filled.get(name))
        return filled

    def _file_or_text(self, value: Any, path: Path) -> Any:
        return self._content(value, path) if isinstance(value, str) and _FILE_NAME.match(value) else value

    def _content(self, name: str, path: Path) -> dict[str, str]:
        full = str(self._folder / name)
        text = ""
        if name not in self._there:
            there = [other for other in self._there if other not in ("SKILL.md", "plan.yaml")]
            what = f"There is no file {name} in the folder of the skill."
            self._draft.faults.append(self._source.fault(path, what, nearest(name, there)))
        else:
            try:
                text = text_of_file(self._draft.files, full)
            except FileRefused as refused:
                self._draft.faults.append(fault_of(full, refused))
        return {"file": name, "text": text}

    def _read_options(self, content: Any) -> None:
        if not isinstance(content, dict) or not content.get("text") or content["file"] in self._skill.options:
            return
        source = read_yaml(str(self._folder / content["file"]), content["text"])
        options = read_as(OptionsFile, source, source.value)
        self._draft.faults += source.faults
        if options is not None:
            self._skill.options[content["file"]] = Read(options, source)
