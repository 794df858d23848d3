"""Answers of a model that are none: cut, held back, declined or empty. The model is told, and asked again."""

from __future__ import annotations

from contracts import Step
from runtime.engine.react.state import Turn
from runtime.errors import BusinessRefusal
from runtime.model.port import Ending

_TOLD = 500
"""Characters of what it said instead that are told on."""


class AnswerUnusable(BusinessRefusal):
    """An answer of a model is nothing that a step can use."""


class NothingUsable(AnswerUnusable):
    """It holds neither a call nor words."""

    code = "NOTHING_USABLE"


class AnswerCut(AnswerUnusable):
    """It reached the limit of tokens before its end."""

    code = "ANSWER_CUT"


class AnswerFiltered(AnswerUnusable):
    """The endpoint held it back."""

    code = "ANSWER_FILTERED"


class ModelDeclined(AnswerUnusable):
    """The model says that it does not want to."""

    code = "MODEL_DECLINED"


def refuse_unfinished(turn: Turn, step: Step) -> None:
    """Return for an answer that is one; raise what it is instead."""
    said = f" It said: {turn.content.strip()[:_TOLD]}" if turn.content.strip() else ""
    match turn.ending:
        case Ending.LENGTH:
            raise AnswerCut(
                "The answer was cut at the limit of tokens, and nothing of it was used. Say less at once: one call, or "
                "the output in fewer words.",
                step=step.id,
            )
        case Ending.FILTERED:
            raise AnswerFiltered(f"The endpoint's filter held the answer back.{said}", step=step.id)
        case Ending.REFUSED:
            raise ModelDeclined(f"The model declined to answer.{said}", step=step.id)
        case Ending.REASONING_ONLY:
            raise NothingUsable(
                "The answer holds only thoughts: neither a tool call nor a result. Say the result.", step=step.id
            )
        case Ending.EMPTY | Ending.BROKEN_OFF:
            raise NothingUsable("The answer was empty: neither a tool call nor a result.", step=step.id)
