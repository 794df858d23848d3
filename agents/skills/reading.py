"""`skills.read`: the instructions of a skill that a model follows, and the other files of its folder, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from contracts import Json, Name, Parameter, Tier, ValueType
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.errors import InvalidArguments

INSTRUCTIONS = "SKILL.md"
_PART_BYTES = 4_000
"""So much of a file is told at once, so that a prompt shows it whole."""
_MOST_NAMES = 50

SPEC = CapabilitySpec(
    name="skills.read",
    kind="builtin_tool",
    description="Read the instructions of the skill, or another file of its folder that they name, a part at a time.",
    parameters={
        "skill": Parameter(type=ValueType.STRING, description="Its name."),
        "file": Parameter(
            type=ValueType.STRING,
            description="Path in its folder.",
            example="references/forms.md",
            default=INSTRUCTIONS,
        ),
        "part": Parameter(type=ValueType.INTEGER, description="Which part, from 1.", default=1),
    },
    gives={"text": "string", "part": "integer", "parts": "integer", "files": "array"},
    tier=Tier.COGNITIVE,
    any_tier=True,
)


class ReadSkill:
    """Reads skills as they stood when the execution began."""

    spec = SPEC

    def __init__(self, files: Mapping[Name, Mapping[str, str]]) -> None:
        """Make it ready: skill → path in its folder → text; `SKILL.md` is without its front matter."""
        self._files = files

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return one part of a file, how many parts there are, and the names of the skill's files."""
        skill, name, part = str(arguments["skill"]), str(arguments["file"]), int(str(arguments["part"]))
        there = self._files.get(skill)
        if there is None:
            raise InvalidArguments(f"There is no skill `{skill}` to be read. {_near(skill, self._files)}", skill=skill)
        if name not in there:
            raise InvalidArguments(f"The skill {skill} has no text file `{name}`. {_near(name, there)}", file=name)
        parts = list(parts_of(there[name]))
        if not 1 <= part <= len(parts):
            raise InvalidArguments(f"`{name}` has {len(parts)} parts; there is no part {part}.", part=part)
        files: list[Json] = [*sorted(there)[:_MOST_NAMES]]
        return CallResult({"text": parts[part - 1], "part": part, "parts": len(parts), "files": files})


def parts_of(text: str) -> Iterator[str]:
    """Yield the text, empty or not, in parts that a prompt shows whole; short lines stay whole as well."""
    part, size = "", 0
    for line in text.splitlines(keepends=True) or [""]:
        for piece in _pieces(line):
            length = len(piece.encode())
            if part and size + length > _PART_BYTES:
                yield part
                part, size = "", 0
            part, size = part + piece, size + length
    yield part


def _pieces(line: str) -> Iterator[str]:
    """Yield a line whole, or in pieces where it is too long for a part."""
    if len(line.encode()) <= _PART_BYTES:
        yield line
        return
    step = _PART_BYTES // 4  # a character has four bytes at most
    yield from (line[at : at + step] for at in range(0, len(line), step))


def _near(name: str, there: Mapping[str, object]) -> str:
    near = get_close_matches(name, there, n=1) or sorted(there)[:_MOST_NAMES]
    return f"There is: {', '.join(near)}." if near else ""
