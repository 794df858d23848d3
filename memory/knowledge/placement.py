"""Where something belongs that somebody wants to write down: the questions, their answers, and one place for each.

| question | yes |
|---|---|
| is it needed in every turn? | resident layer, one line |
| would one know by one sentence when to open it? | index and body |
| has it to be reproduced exactly (a command, a parameter, a number)? | body, in full |
| none of these | not a memory |

Places do not overlap: what happened is the log's, where a task stands is the ledger's, what must hold is a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memory.knowledge.errors import NotAMemory
from memory.knowledge.lint import facts_of, places_of
from memory.knowledge.tree import KnowledgeTree
from runtime.settings import MemorySettings

QUESTIONS = (
    "Is it needed in every turn, whatever the task is?",
    "Is there one sentence that says when to open it?",
    "Has it to be reproduced exactly: a command, a parameter, a number?",
)


class Nature(StrEnum):
    """What it is."""

    HAPPENED = "happened"
    """Something that happened: the log."""
    STANDING = "standing"
    """Where a task stands: in progress, paused, blocked, done."""
    CONCLUSION = "conclusion"
    """A conclusion that can be used again: a memory."""
    OBJECT = "object"
    """What a thing is and what it is related to."""
    RULE = "rule"
    """What must hold."""


class Layer(StrEnum):
    """Where it goes."""

    RESIDENT = "resident"
    BODY = "body"
    """With its entry in the index."""
    LOG = "log"
    """With its entry in the log."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What somebody says of it."""

    every_turn: bool = False
    when: str = ""
    """The one sentence; empty where there is none."""
    exact: bool = False
    nature: Nature = Nature.CONCLUSION


@dataclass(frozen=True, slots=True)
class Placement:
    """Where it belongs, and why."""

    layer: Layer
    why: str
    in_full: bool = False
    """Whether nothing of it may be shortened."""


_ELSEWHERE: Mapping[Nature, str] = {
    Nature.STANDING: "Where a task stands is known by its execution and its goal: it goes stale everywhere else. See "
    "`silicon runs` and `goals` in org.yaml.",
    Nature.RULE: "What must hold is a rule that is checked at the action: rules/NAME.yaml.",
}


def place(text: str, answers: Answers, tree: KnowledgeTree, settings: MemorySettings) -> Placement:
    """Return where something belongs.

    Raises:
        NotAMemory: nowhere here: to another place, or none of the questions has a yes, or it stands somewhere already.
    """
    if answers.nature is Nature.RULE and answers.every_turn:
        return _resident(text, tree, settings)
    if answers.nature in _ELSEWHERE:
        raise NotAMemory(f"This is no knowledge. {_ELSEWHERE[answers.nature]}", place=answers.nature.value)
    _require_new(text, tree)
    if answers.every_turn:
        return _resident(text, tree, settings)
    if not answers.when:
        if answers.exact:
            raise NotAMemory("Say in one sentence when to open it (--when): nobody would find it again otherwise.")
        raise NotAMemory(
            "This is not a memory: it is not needed in every turn, no sentence says when to open it, and nobody has to "
            "reproduce it exactly. What only matters now belongs to the order or the conversation."
        )
    if len(answers.when) > settings.index_when_chars:
        raise NotAMemory(
            f"When to open it takes {len(answers.when)} characters; {settings.index_when_chars} have to do.",
            when=answers.when,
        )
    if answers.nature is Nature.HAPPENED:
        return Placement(Layer.LOG, "it happened: the log of its domain tells it", answers.exact)
    why = "it has to be reproduced exactly" if answers.exact else "one sentence tells when it is needed"
    return Placement(Layer.BODY, why, answers.exact)


def _resident(text: str, tree: KnowledgeTree, settings: MemorySettings) -> Placement:
    if "\n" in text.strip() or len(text) > settings.index_line_chars:
        raise NotAMemory(
            f"What stands in every prompt is one line of {settings.index_line_chars} characters at most: say what to "
            "do, and put the rest into a body.", size=len(text),
        )  # fmt: skip
    _require_new(text, tree)
    return Placement(Layer.RESIDENT, "it is needed in every turn")


def _require_new(text: str, tree: KnowledgeTree) -> None:
    places = places_of(tree)
    for fact, _ in facts_of(text, 1):
        if there := places.get(fact):
            file, line = there[0]
            raise NotAMemory(
                f"“{fact[:80]}” stands in {file}:{line} already: one fact in one place, links elsewhere.",
                file=file, line=line,
            )  # fmt: skip
