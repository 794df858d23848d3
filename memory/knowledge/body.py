"""The body layer: one thing worth knowing in one file, with how far it can be relied on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import yaml

from memory.knowledge.faults import KnowledgeFault

_MARK = "---"
_FIELDS = ("title", "project", "updated", "verified", "confidence", "conflicts", "when")
_MUST = ("updated", "verified", "confidence")
_FORM = "A body begins with --- and fields: updated, verified (dates), confidence (0 to 1), and --- again."


@dataclass(frozen=True, slots=True)
class Body:
    """What a file says."""

    path: str
    text: str
    """Below the fields."""
    first_line: int
    """On which it begins, from 1."""
    updated: date
    """When somebody last changed it."""
    verified: date
    """When somebody last made sure that it is so."""
    confidence: float
    """0 to 1."""
    project: str = ""
    conflicts: Sequence[str] = ()
    """Rules that say otherwise."""
    title: str = ""
    when: str = ""
    """When to open it, for whoever writes its entry."""


def read_body(path: str, text: str, faults: list[KnowledgeFault]) -> Body | None:
    """Return a body; None where its fields cannot be read, which is a fault for each."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), None)
    if lines[0].rstrip() != _MARK or end is None:
        faults.append(KnowledgeFault(path, 1, "The file has no fields.", _FORM))
        return None
    fields, wrong = _fields(path, lines[1:end])
    faults += wrong
    if wrong:
        return None
    title = str(fields.get("title") or _heading(lines[end + 1 :]))
    begins = next((n for n, line in enumerate(lines[end + 1 :], end + 1) if line), end + 1)
    return Body(
        path, "\n".join(lines[begins:]).strip("\n"), begins + 1, fields["updated"], fields["verified"],
        float(fields["confidence"]), str(fields.get("project") or ""), tuple(fields.get("conflicts") or ()), title,
        str(fields.get("when") or ""),
    )  # fmt: skip


def written_body(body: Body) -> str:
    """Return the file of a body; what is read from it is the same again."""
    told: dict[str, Any] = {"title": body.title} if body.title else {}
    told |= {"project": body.project} if body.project else {}
    told |= {"updated": body.updated, "verified": body.verified, "confidence": body.confidence}
    told |= {"conflicts": list(body.conflicts)} if body.conflicts else {}
    told |= {"when": body.when} if body.when else {}
    fields = "".join(
        yaml.safe_dump({name: value}, allow_unicode=True, default_flow_style=None if name == "conflicts" else False,
                       width=10_000)
        for name, value in told.items()
    )  # fmt: skip
    return f"{_MARK}\n{fields}{_MARK}\n\n{body.text}\n"


def _fields(path: str, lines: Sequence[str]) -> tuple[Mapping[str, Any], list[KnowledgeFault]]:
    try:
        told = yaml.safe_load("\n".join(lines)) or {}
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 + (mark.line if mark is not None else 0)
        return {}, [
            KnowledgeFault(path, line, f"The fields cannot be read: {getattr(error, 'problem', error)}.", _FORM)
        ]
    if not isinstance(told, Mapping):
        return {}, [KnowledgeFault(path, 2, "The fields are no `name: value` lines.", _FORM)]
    faults = [
        KnowledgeFault(path, _line(lines, name), f"A body has no field `{name}`.", f"There are: {', '.join(_FIELDS)}.")
        for name in told
        if name not in _FIELDS
    ]
    faults += [KnowledgeFault(path, 1, f"The field `{name}` is missing.", _FORM) for name in _MUST if name not in told]
    for name, value in told.items():
        if fault := _fault_of(name, value):
            faults.append(KnowledgeFault(path, _line(lines, name), fault))
    return told, faults


def _fault_of(name: object, value: object) -> str:
    match name:
        case "updated" | "verified" if type(value) is not date:
            return f"`{name}` is a date such as 2026-01-31."
        case "confidence" if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            return "`confidence` is a number from 0 to 1."
        case "conflicts" if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            return "`conflicts` is a list of names of rules: [night-calls]."
        case "title" | "project" | "when" if not isinstance(value, str):
            return f"`{name}` is text."
    return ""


def _line(lines: Sequence[str], name: object) -> int:
    return next((n for n, line in enumerate(lines, 2) if line.startswith(f"{name}:")), 2)


def _heading(lines: Sequence[str]) -> str:
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), "")
