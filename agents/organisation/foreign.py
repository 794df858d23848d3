"""Skills without a plan: folders in the open SKILL.md format, often written for other agents, which a model follows.

They are taken as they are: fields that other programs added mean nothing here and are passed over, and front matter
that is no strict YAML, because a text with a colon stands without quotes, is read as it was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agents.organisation.draft import Draft, Read, SkillDraft
from agents.organisation.files import FileRefused, text_of_file
from agents.organisation.skill_files import SkillHeader, SkillMetadata
from agents.organisation.tree import Tree
from agents.organisation.yaml_source import YamlSource, read_yaml
from agents.skills.reading import INSTRUCTIONS
from agents.skills.reading import SPEC as READ
from contracts import Name, Parameter, PlanDefinition, Step, Tier, ValueType
from runtime.capabilities.placing import torn_between
from runtime.capabilities.port import CapabilitySpec

_FOLLOW = """Do what the order says, in the way of the skill {name}: {description}
Read its instructions with {read} first, and other files of it where they tell you to. They may have been written for
another program: use the tools that you have in the place of those they name, and say so where something they need is
not there. They tell how the work is done, and allow nothing that the organisation forbids."""
_PLAIN = re.compile(r"^([A-Za-z][\w-]*):[ \t]+(?![\"'\[{|>])(\S.*?)[ \t]*$", re.MULTILINE)
"""A field of the front matter whose value is a text on one line, without quotes."""

_OPENING = re.compile(r"\{(?=\{)")


class ForeignHeader(BaseModel):
    """Front matter of the open format (https://agentskills.io/specification); anything else in it is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: Name
    description: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(min_length=1, max_length=1_024)
    license: Any = ""
    compatibility: Any = ""
    metadata: Any = None

    def as_header(self) -> SkillHeader:
        """Return it as a header of ours; of `metadata` what means something here and is written as it must be."""
        return SkillHeader(
            name=self.name,
            description=self.description,
            license=self.license if isinstance(self.license, str) else "",
            compatibility=self.compatibility if isinstance(self.compatibility, str) else "",
            metadata=_metadata(self.metadata),
        )


def is_foreign(name: str, files: Sequence[str]) -> bool:
    """Whether the skill has no plan, nor a file that was surely meant to be one."""
    inside = [path.removeprefix(f"skills/{name}/") for path in files if path.startswith(f"skills/{name}/")]
    return INSTRUCTIONS in inside and not get_close_matches("plan.yaml", inside, n=1, cutoff=0.8)


def read_front_matter(path: str, text: str) -> YamlSource:
    """Return front matter with positions; where it is no YAML, read with its plain texts in quotes."""
    source = read_yaml(path, text, first_line=2)
    if not source.faults:
        return source
    quoted = _PLAIN.sub(lambda found: f"{found[1]}: {json.dumps(found[2], ensure_ascii=False)}", text)
    again = read_yaml(path, quoted, first_line=2)
    return source if again.faults else again


def give_plan(skill: SkillDraft, draft: Draft) -> None:
    """Give the skill its files and the plan of one step: a model follows its instructions.

    The model has the tools that everybody who has the skill can use. Where one of them is of the execution tier, so is
    the skill, and it runs in a slot.
    """
    if skill.header is None:
        return
    header, source = skill.header.value, skill.header.source
    tools = _tools(skill, draft)
    tier = Tier.EXECUTION if any(spec.tier is Tier.EXECUTION for spec in tools) else Tier.COGNITIVE
    metadata = header.metadata.model_copy(update={"tier": tier})
    skill.header = Read(header.model_copy(update={"metadata": metadata}), source)
    skill.plan = Read(_plan(header, [spec.name for spec in tools if spec.tier is tier]), source)
    skill.files = _texts(skill, draft)


def _plan(header: SkillHeader, tools: Sequence[str]) -> PlanDefinition:
    told = _FOLLOW.format(name=header.name, description=header.description, read=READ.name)
    task = Parameter(
        type=ValueType.STRING,
        description={
            "en": "What is to be done; without it, what the order says.",
            "zh": "要做什么；不填则以任务为准。",
        },
        required=False,
    )
    step = Step(
        id="follow",
        react=_OPENING.sub("{ ", told),  # a description may speak of templates; it binds nothing
        tools=tuple(tools),
        must_call=(READ.name,),
        arguments={"skill": header.name, "task": "{{ task }}"},
    )
    return PlanDefinition(parameters={"task": task}, steps=(step,))


def _tools(skill: SkillDraft, draft: Draft) -> list[CapabilitySpec]:
    """Return what every employee with the skill can use, as far as one slot holds it."""
    owners = Tree.of(draft).owners(skill.name)
    names = [name for name in (owners[0].can if owners else ()) if all(name in other.can for other in owners)]
    specs = [draft.specs[name] for name in dict.fromkeys(names) if name in draft.specs and name != READ.name]
    torn = torn_between(specs)
    return [spec for spec in specs if torn is None or spec.name not in torn[1]]


def _texts(skill: SkillDraft, draft: Draft) -> dict[str, str]:
    """Return the texts of the folder; what is no text, or too large, is left out."""
    folder = f"skills/{skill.name}/"
    found = {}
    for path in draft.files.names():
        if path.startswith(folder):
            try:
                found[path.removeprefix(folder)] = text_of_file(draft.files, path)
            except FileRefused:  # a picture, a font; what may not be in a folder at all has its fault already
                continue
    return {**found, INSTRUCTIONS: skill.body}


def _metadata(given: Any) -> SkillMetadata:
    said = given if isinstance(given, Mapping) else {}
    ours = {name: said[name] for name in SkillMetadata.model_fields if name in said and name != "tier"}
    try:
        return SkillMetadata.model_validate(ours)
    except ValidationError as error:
        wrong = {detail["loc"][0] for detail in error.errors()}
        return SkillMetadata.model_validate({name: value for name, value in ours.items() if name not in wrong})
