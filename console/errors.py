"""Errors of what was typed: they end the command with exit code 2.

InvalidArguments
├── UnknownId      no execution, card, … of that name, or several     (type more of it)
├── UnknownName    no metric, setting, contract of that name           (choose one of those listed)
├── UnknownOption  the card has no such option                         (choose one of those listed)
├── FolderNotMade  `init` or `--to` cannot write there               (choose another place)
├── FolderInUse    `init` would write over what is there               (choose another folder)
└── SkillUnclear   no skill fits the goal, or several do               (name one)
NotFound
└── Pruned         there was an execution of that name                 (nothing: it is gone for good)
"""

from __future__ import annotations

from contracts import ExecutionId
from runtime.errors import InvalidArguments, NotFound
from runtime.keeping.results import Gone


class UnknownId(InvalidArguments):
    """What was typed names nothing, or more than one thing; `candidates` in the facts lists the near ones."""

    code = "UNKNOWN_ID"


class SkillUnclear(InvalidArguments):
    """No skill fits the goal, or several do; `skills` in the facts lists them."""

    code = "SKILL_UNCLEAR"


class UnknownName(InvalidArguments):
    """There is nothing of that name; the message lists what there is."""

    code = "UNKNOWN_NAME"


class UnknownOption(InvalidArguments):
    """The card has no such option; `options` in the facts lists those it has."""

    code = "UNKNOWN_OPTION"


class FolderNotMade(InvalidArguments):
    """A folder cannot be made or written where it was asked for."""

    code = "FOLDER_NOT_MADE"


class FolderInUse(InvalidArguments):
    """The folder holds something already, which is never written over."""

    code = "FOLDER_IN_USE"


class Pruned(NotFound):
    """The execution was pruned; what its tombstone tells is in the facts."""

    code = "EXECUTION_PRUNED"


def pruned(execution_id: ExecutionId, gone: Gone) -> Pruned:
    """Return the error for an execution that was pruned."""
    return Pruned(
        f"{execution_id} was pruned at {gone.at:%Y-%m-%d %H:%M} UTC, with {gone.events} events of its own: "
        f"{gone.reason}. It is gone for good.",
        execution_id=execution_id,
        organisation=gone.organisation,
        at=gone.at.isoformat(),
        reason=gone.reason,
        events=gone.events,
    )
