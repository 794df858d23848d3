"""The words in which endpoints say that an answer did not come to its end."""

from __future__ import annotations

from runtime.model.port import Ending

_CUT = {
    "length": Ending.LENGTH,
    "max_tokens": Ending.LENGTH,
    "model_length": Ending.LENGTH,
    "content_filter": Ending.FILTERED,
    "safety": Ending.FILTERED,
    "recitation": Ending.FILTERED,
    "error": Ending.BROKEN_OFF,
}


def cut_by(reason: str | None) -> Ending | None:
    """Return how an answer was cut; None where the reason says nothing of the kind.

    Some write it large, and some tell more of it behind a colon: `content_filter: RECITATION`.
    """
    return _CUT.get(reason.partition(":")[0].strip().lower()) if reason else None
