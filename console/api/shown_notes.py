"""What an execution went on without, as the HTTP API gives it."""

from __future__ import annotations

from pydantic import Field

from console.api.model import ApiModel
from console.notes import BranchFailure, NotOffered


class BranchFailed(ApiModel):
    """A branch of a parallel group that failed or was cancelled; its group went on without it."""

    branch: str = Field(examples=["look/total"])
    """The way to it from the head employee's plan, step by step."""
    code: str
    """What went wrong, in a word."""
    message: str
    """In sentences."""

    @classmethod
    def of(cls, failure: BranchFailure) -> BranchFailed:
        """Return what is shown of a branch."""
        return cls(branch=failure.branch, code=failure.code, message=failure.message)


class OptionLeftOut(ApiModel):
    """An option that applied and was not put before a person, because it could not be carried out."""

    option: str
    """Its id."""
    reason: str = Field(examples=["forbidden"])
    """`forbidden` by a rule, `unclear` where the rule's condition could not be worked out, `unfit` arguments."""
    use: str | None = None
    """The capability that would have been called."""
    rule: str | None = None
    """The rule, where it was one."""
    why: str
    """The text of the rule, or what is wrong."""

    @classmethod
    def of(cls, left_out: NotOffered) -> OptionLeftOut:
        """Return what is shown of an option."""
        fields = {name: getattr(left_out, name) for name in cls.model_fields}
        return cls(**fields)
