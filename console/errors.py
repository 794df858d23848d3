"""Errors of what was typed: they end the command with exit code 2.

InvalidArguments
├── UnknownId      no execution, card, … of that name, or several     (type more of it)
├── UnknownName    no metric, setting, contract of that name           (choose one of those listed)
├── UnknownOption  the card has no such option                         (choose one of those listed)
├── FolderNotMade  `init` or `--to` cannot write there               (choose another place)
├── FolderInUse    `init` would write over what is there               (choose another folder)
└── SkillUnclear   no skill fits the goal, or several do               (name one with --skill)
"""

from __future__ import annotations

from runtime.errors import InvalidArguments


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
