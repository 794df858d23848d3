"""The life of a call that lies before a bridge: which move leads from where to where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum


class CallStage(IntEnum):
    """Where a call stands. The numbers are stored."""

    OFFERED = 0
    """The bridge is to ask for leave."""
    ASKED = 1
    """It asked; rules and people are being asked."""
    ALLOWED = 2
    """It is to be carried out; what only reads begins here."""
    ANSWERED = 3
    """Its receipt is here."""
    CARD = 4
    """People have to decide first."""
    REFUSED = 5
    """It must not happen."""
    WITHDRAWN = 6
    """It is not wanted any more."""


class CallMove(StrEnum):
    """What happens to a call."""

    ASK = "ask"
    ALLOW = "allow"
    PUT_TO_PEOPLE = "put to people"
    REFUSE = "refuse"
    ANSWER = "answer"
    WITHDRAW = "withdraw"


LIFE: Mapping[tuple[CallStage, CallMove], CallStage] = {
    (CallStage.OFFERED, CallMove.ASK): CallStage.ASKED,
    (CallStage.OFFERED, CallMove.WITHDRAW): CallStage.WITHDRAWN,
    (CallStage.ASKED, CallMove.ALLOW): CallStage.ALLOWED,
    (CallStage.ASKED, CallMove.PUT_TO_PEOPLE): CallStage.CARD,
    (CallStage.ASKED, CallMove.REFUSE): CallStage.REFUSED,
    (CallStage.ASKED, CallMove.WITHDRAW): CallStage.WITHDRAWN,
    (CallStage.ALLOWED, CallMove.ANSWER): CallStage.ANSWERED,
}
OPEN = (CallStage.OFFERED, CallStage.ASKED)
"""A call of which the bridge did nothing yet; one that is allowed cannot be taken back, its receipt may still come."""
BEGUN = (CallStage.ALLOWED, CallStage.ANSWERED)
"""A call that may have happened."""
ENDED = (CallStage.ANSWERED, CallStage.CARD, CallStage.REFUSED, CallStage.WITHDRAWN)
"""A call about which nothing more is said; nobody needs its arguments any more."""


def call_after(stage: CallStage, move: CallMove) -> CallStage | None:
    """Return where the move leads; None where a call of that stage cannot make it, for somebody was quicker."""
    return LIFE.get((stage, move))
