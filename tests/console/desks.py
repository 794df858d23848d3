"""Small organisations for tests: a desk whose one skill asks a person, and one with two departments."""

from __future__ import annotations

from pathlib import Path

TWO_DESKS = """\
name: desk
title: The desk
time_zone: Europe/Berlin
people:
  - {id: planner, name: Robin, roles: [operator], login: any}
  - {id: clerk, name: Sam, roles: [approver], groups: [clerks]}
  - {id: day-lead, name: Lou, departments: {day-desk: [operator]}}
  - {id: day-viewer, name: Kim, departments: {day-desk: viewer, night-desk: operator}}
  - {id: night-lead, name: Ned, departments: {night-desk: [operator, approver]}, groups: [clerks]}
approvals:
  default: {mode: strict, who: [clerks], within: 24h}
head:
  id: head
  title: Head
  manages:
    - {id: day-desk, skills: [choose-day]}
    - {id: night-desk}
"""
ORG = """\
name: {name}
title: The desk
time_zone: Europe/Berlin
people:
  - {{id: planner, name: Robin, roles: [operator], login: any}}
  - {{id: clerk, name: Sam, roles: [approver], groups: [clerks]}}
  - {{id: guest, name: Kim, roles: [viewer]}}
approvals:
  default: {{mode: strict, who: [clerks], within: 24h}}
head: {{id: head, title: Head, skills: [choose-day]}}
"""
SKILL = """\
---
name: choose-day
description: Asks which day is meant.
metadata: {when_to_use: Somebody wants a day to be chosen., words: "choose, day"}
---
Asks a person for the day.
"""
PLAN = """\
parameters:
  days: {type: integer, default: 1, description: How many days.}
steps:
  - id: day
    ask: {text: Which day?, who: clerks, choices: [monday, tuesday]}
"""
GOAL = {"goal": "Choose a day"}


def make_organisation(folder: Path) -> Path:
    """Write an organisation whose one skill asks a person; it is called like its folder."""
    skill = folder / "skills" / "choose-day"
    skill.mkdir(parents=True)
    (folder / "org.yaml").write_text(ORG.format(name=folder.name))
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "plan.yaml").write_text(PLAN)
    return folder
