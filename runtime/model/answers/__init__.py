"""The one reader of answers: parts put together, judged once, and nothing in them that is not surely whole."""

from runtime.model.answers.assembly import Assembly, raw_of
from runtime.model.answers.classify import answer_of
from runtime.model.answers.raw import Raw, RawCall
from runtime.model.answers.recovery import recover

__all__ = ["Assembly", "Raw", "RawCall", "answer_of", "raw_of", "recover"]
