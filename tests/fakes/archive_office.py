"""A small organisation whose clerk owns a workspace and works in slots: it notes and sums up what it is given."""

from __future__ import annotations

from pathlib import Path

GOAL = "Note a number"
_ORG = """\
name: office
title: The office
time_zone: Europe/Berlin
people:
  - {id: robin, name: Robin, roles: [operator], login: any}
  - {id: kim, name: Kim, roles: [viewer]}
head:
  id: head
  skills: [note]
  manages:
    - {id: clerk, skills: [keep-notes], can: [files.write, python], workspace: {files: 50, mib: 1}}
"""
_NOTE = """\
---
name: note
description: Notes a number and sums up what was noted.
metadata: {when_to_use: A number is to be noted., words: "note, number"}
---
Hands it to the clerk.
"""
_NOTE_PLAN = """\
parameters:
  number: {type: integer, default: 7, description: What is noted.}
steps:
  - id: keep
    by: clerk
    skill: keep-notes
    with: {number: "{{ number }}"}
gives: {total: "{{ keep.total }}"}
"""
_KEEP = """\
---
name: keep-notes
description: Writes a number into the notes and adds all of them up.
metadata: {when_to_use: A number is to be kept., words: "keep", tier: execution}
---
Works in a slot.
"""
_KEEP_PLAN = """\
parameters:
  number: {type: integer, description: What is noted.}
steps:
  - id: page
    use: files.write
    with: {path: page.html, text: "<h1>{{ number }}</h1>"}
  - id: add
    use: python
    after: [page]
    with: {script: add.py, number: "{{ number }}"}
gives: {total: "{{ add.result }}"}
"""
_SCRIPT = """\
import os

os.makedirs("workspace", exist_ok=True)
with open("workspace/笔记.txt", "a", encoding="utf-8") as notes:
    notes.write(f"{inputs['number']}\\n")
with open("workspace/笔记.txt", encoding="utf-8") as notes:
    result = sum(int(line) for line in notes)
"""


def make_office(folder: Path) -> Path:
    """Write the organisation and return its folder."""
    files = {
        "org.yaml": _ORG,
        "skills/note/SKILL.md": _NOTE,
        "skills/note/plan.yaml": _NOTE_PLAN,
        "skills/keep-notes/SKILL.md": _KEEP,
        "skills/keep-notes/plan.yaml": _KEEP_PLAN,
        "skills/keep-notes/add.py": _SCRIPT,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
