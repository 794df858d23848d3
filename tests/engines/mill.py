"""The mill: an organisation with one skill for each thing that plans can do, beside those of the counting house.

Its employees stand five levels deep, sit in several hosts, and one has a process of its own.
"""

from __future__ import annotations

from pathlib import Path

from tests.crash.lives import copy_organisation

_ORG = """\
name: mill
title: The mill
time_zone: UTC
language: en
clock: {{stands_at: 2026-11-01T18:00}}
budget: {{seconds: 900, steps: 200}}
people:
  - {{id: ann, name: Ann, roles: [operator], login: any}}
  - {{id: bea, name: Bea, roles: [approver, admin], groups: [owners]}}
approvals:
  default: {{mode: strict, who: [owners], within: 24h}}
blackboard: {{notes: old + new, turns: old + new}}
head:
  id: chief
  skills: [close-month, try-out, {skills}]
  manages:
    - id: head-of-desk
      skills: [settle, work-long, note, doubt]
      manages:
        - {{id: reader, can: [desk.balance]}}
        - {{id: payer, can: [desk.pay, desk.tell, desk.take_back, python]}}
    - id: manager
      skills: [second, know]
      manages:
        - id: lead
          skills: [third]
          manages:
            - {{id: foreman, skills: [fourth], manages: [{{id: hand, can: [desk.balance]}}]}}
    - {{id: clerk, skills: [keep, note], can: [files.write, python], workspace: {{files: 50, mib: 1}}}}
    - {{id: hermit, isolation: process, skills: [note]}}
    - {{id: thinker, skills: [ponder], can: [desk.balance, desk.pay]}}
"""
_RULE = """\
text: Nobody pays more than 100 out.
applies_to: [desk.pay]
allow_when: arguments.amount <= 100
examples:
  - {use: desk.pay, with: {amount: 70}, allowed: true, why: a usual amount}
  - {use: desk.pay, with: {amount: 700}, allowed: false, why: too much}
"""
_SKILL = """\
---
name: {name}
description: What the tests call {name}.
metadata: {{when_to_use: Somebody wants {name}., words: {name}, tier: {tier}}}
---
See plan.yaml.
"""
HEADS = {
    "remember": """\
steps:
  - {id: write, use: memory_write, with: {text: The wheel of the mill turns left., whose: business}}
  - {id: find, use: memory_search, with: {query: which way does the wheel turn}, after: [write]}
  - {id: look, use: knowledge_open, with: {query: the wheel stands still}, after: [find]}
  - {id: read, use: knowledge_open, with: {open: [knowledge/wheel.md]}, after: [look]}
  - {id: delivered, use: product_search, with: {query: wheel}, after: [read]}
gives: {became: "{{ write.became }}", said: "{{ find.memories[0].text }}", text: "{{ read.bodies[0].text }}"}
""",
    "branch": """\
parameters:
  names: {type: array, default: [first, second], description: The accounts.}
steps:
  - {id: each, by: reader, use: desk.balance, for_each: "{{ names }}", with: {account: "{{ item }}"}}
  - {id: rich, when: "each[0].balance > 50", use: blackboard.write, with: {key: rich, value: "{{ each[0].balance }}"}}
  - {id: poor, when: "each[1].balance > 50", use: blackboard.write, with: {key: poor, value: "{{ each[1].balance }}"}}
  - id: turn
    use: blackboard.write
    with: {key: turns, value: 1}
    until: {check: version >= 3, most: 5}
    after: [rich]
  - {id: said, use: blackboard.read, with: {key: turns}, after: [turn]}
gives: {turns: "{{ said.value }}", rich: "{{ rich.version }}", poor: "{{ poor }}"}
""",
    "turn-for-ever": """\
steps:
  - {id: turn, use: blackboard.write, with: {key: turns, value: 1}, until: {check: version > 9, most: 2}}
  - {id: said, use: blackboard.read, with: {key: turns}, after: [turn]}
""",
    "go-down": """\
steps:
  - {id: down, by: manager, skill: second, with: {account: first}}
gives: {balance: "{{ down.balance }}"}
""",
    "note-all": """\
steps:
  - id: all
    parallel:
      - {id: one, by: head-of-desk, skill: note, with: {number: 1}}
      - {id: two, by: clerk, skill: note, with: {number: 20}}
      - {id: three, by: hermit, skill: note, with: {number: 300}}
  - {id: sum, use: blackboard.read, with: {key: notes}, after: [all]}
gives: {sum: "{{ sum.value }}", versions: "{{ sum.version }}"}
""",
    "overpay": """\
steps:
  - id: both
    parallel:
      - {id: pay, by: payer, use: desk.pay, with: {amount: 700}}
      - {id: look, by: reader, use: desk.balance, with: {account: first}}
gives: {why: "{{ both.pay.__error.code }}", held: "{{ both.look.balance }}"}
""",
    "count": """\
steps:
  - {id: first, use: blackboard.write, with: {key: first, value: 1}}
  - {id: below, by: manager, skill: know, after: [first]}
  - {id: last, use: blackboard.write, with: {key: last, value: 1}, after: [below]}
gives: {known: "{{ below.balance }}", last: "{{ last.version }}"}
""",
    "doubt-first": """\
steps:
  - id: look
    by: head-of-desk
    skill: doubt
    otherwise: {by: manager, skill: know}
gives: {balance: "{{ look.balance }}"}
""",
    "look-late": """\
steps:
  - {id: before, by: reader, use: desk.balance, with: {account: first}}
  - {id: late, by: reader, use: desk.balance, with: {account: late}, after: [before]}
  - {id: page, use: report, with: {title: Late, template: page.md.j2, balance: "{{ late.balance }}"}}
gives: {late: "{{ late.balance }}"}
""",
    "keep-notes": """\
parameters:
  number: {type: integer, description: What is noted.}
steps:
  - {id: keep, by: clerk, skill: keep, with: {number: "{{ number }}"}}
gives: {total: "{{ keep.total }}"}
""",
    "think": """\
steps:
  - {id: thought, react: Say something.}
""",
    "have-asked-down": """\
steps:
  - {id: ask, react: What does the first account hold?, skills: [second, know], gives: {balance: integer}}
gives: {balance: "{{ ask.balance }}"}
""",
    "have-pondered": """\
steps:
  - {id: below, by: thinker, skill: ponder, with: {account: first}}
gives: {balance: "{{ below.balance }}"}
""",
    "stumble": """\
steps:
  - id: program
    by: payer
    use: python
    with: {script: "raise ValueError('it stumbles')"}
    otherwise: {when: "problem.category == 'unknown'", skip: true}
gives: {program: "{{ program }}"}
""",
}
"""Skills of the head, by name."""
_BELOW = {
    "second": """\
parameters: {account: {type: string, description: The account.}}
steps:
  - {id: down, by: lead, skill: third, with: {account: "{{ account }}"}}
gives: {balance: "{{ down.balance }}"}
""",
    "third": """\
parameters: {account: {type: string, description: The account.}}
steps:
  - {id: down, by: foreman, skill: fourth, with: {account: "{{ account }}"}}
gives: {balance: "{{ down.balance }}"}
""",
    "fourth": """\
parameters: {account: {type: string, description: The account.}}
steps:
  - {id: look, by: hand, use: desk.balance, with: {account: "{{ account }}"}, accept: ["balance > 0"]}
gives: {balance: "{{ look.balance }}"}
""",
    "note": """\
parameters: {number: {type: integer, description: What is noted.}}
steps:
  - {id: write, use: blackboard.write, with: {key: notes, value: "{{ number }}"}}
gives: {key: "{{ write.key }}"}
""",
    "doubt": """\
steps:
  - {id: look, by: reader, use: desk.balance, with: {account: second}}
accept: ["look.balance > 50"]
gives: {balance: "{{ look.balance }}"}
""",
    "know": """\
steps:
  - {id: mark, use: blackboard.write, with: {key: mark, value: 1}}
  - {id: down, by: lead, skill: third, with: {account: first}, after: [mark]}
gives: {balance: "{{ down.balance }}"}
""",
    "ponder": """\
parameters: {account: {type: string, description: The account.}}
steps:
  - id: ponder
    react: "How much is in the account {{ account }}?"
    tools: [desk.balance, desk.pay]
    gives: {balance: integer}
gives: {balance: "{{ ponder.balance }}"}
""",
    "keep": """\
parameters: {number: {type: integer, description: What is noted.}}
steps:
  - {id: page, use: files.write, with: {path: page.html, text: "<h1>{{ number }}</h1>"}}
  - {id: add, use: python, with: {script: add.py, number: "{{ number }}"}, after: [page]}
gives: {total: "{{ add.result }}"}
""",
}
"""Skills of others."""
_ADD = """\
import os

os.makedirs("workspace", exist_ok=True)
with open("workspace/notes.txt", "a", encoding="utf-8") as notes:
    notes.write(f"{inputs['number']}\\n")
with open("workspace/notes.txt", encoding="utf-8") as notes:
    result = sum(int(line) for line in notes)
"""


_WHEEL = """\
---
title: Wheel
updated: 2026-10-01
verified: 2026-10-01
confidence: 0.9
---

Open the lower gate first.
"""


def make_mill(folder: Path, desk: int) -> Path:
    """Write the organisation, led to the service of the crash tests at that port; return its folder."""
    copy_organisation(folder, desk)
    (folder / "org.yaml").write_text(_ORG.format(skills=", ".join(HEADS)))
    (folder / "rules").mkdir()
    (folder / "rules" / "pay.yaml").write_text(_RULE)
    for name, plan in (HEADS | _BELOW).items():
        skill = folder / "skills" / name
        skill.mkdir()
        tier = "execution" if name in ("keep", "ponder") else "cognitive"
        (skill / "SKILL.md").write_text(_SKILL.format(name=name, tier=tier))
        (skill / "plan.yaml").write_text(plan)
    (folder / "skills" / "keep" / "add.py").write_text(_ADD)
    (folder / "skills" / "look-late" / "page.md.j2").write_text("It holds {{ balance }}.\n")
    knowledge = folder / "knowledge"
    knowledge.mkdir()
    (knowledge / "INDEX.md").write_text("# Mill\n\n- [Wheel](wheel.md) — the wheel stands still\n")
    (knowledge / "wheel.md").write_text(_WHEEL)
    return folder
