"""What an execution went on without: branches that failed, and options that nobody was offered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BranchFailure:
    """A branch of a parallel group that failed or was cancelled; its group went on without it."""

    branch: str
    """The way to it from the head employee's plan, step by step."""
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class NotOffered:
    """An option that applied and was not put before a person, because it could not be carried out."""

    option: str
    reason: str
    """`forbidden` by a rule, `unclear` where its condition could not be worked out, `unfit` arguments."""
    use: str | None
    """The capability that would have been called."""
    rule: str | None
    """The rule, where it was one."""
    why: str
    """The text of the rule, or what is wrong."""
