"""What governance refuses, as errors a person can read.

SiliconError
├── GovernanceError
│   └── IllegalTransition     the card cannot take that move; nothing changed
├── InvalidArguments
│   ├── NobodyActs            no person of that name, or none for the system user    (name one of those listed)
│   └── UnknownOption         the decision names no option of the card               (choose one of those listed)
├── PermissionRefused
│   └── NotAllowedToDecide    this person may not decide this card                   (ask who is named)
└── BusinessRefusal
    ├── AlertPast             the alert or silence is past that; says by whom
    └── CardClosed            decided, expired or withdrawn before; says by whom and when
"""

from __future__ import annotations

from runtime.errors import BusinessRefusal, InvalidArguments, PermissionRefused, SiliconError


class GovernanceError(SiliconError):
    """A rule of governance does not hold."""

    code = "GOVERNANCE_ERROR"


class IllegalTransition(GovernanceError):
    """The card cannot take that move where it stands; nothing changed."""

    code = "ILLEGAL_TRANSITION"


class NobodyActs(InvalidArguments):
    """Nobody in the organisation answers to that name."""

    code = "NOBODY_ACTS"


class UnknownOption(InvalidArguments):
    """A yes must name one option of the card, a no none; `options` in the facts lists them."""

    code = "UNKNOWN_OPTION"


class NotAllowedToDecide(PermissionRefused):
    """This person may not decide this card; `why` in the facts says which rule forbids it."""

    code = "NOT_ALLOWED_TO_DECIDE"


class AlertPast(BusinessRefusal):
    """The alert was acknowledged, is over or closed, or the silence is over; nothing was changed."""

    code = "ALERT_PAST"


class CardClosed(BusinessRefusal):
    """The card takes no decision any more, or none of this person; `outcome`, `by` and `at` are in the facts."""

    code = "CARD_CLOSED"


class CannotBeUndone(BusinessRefusal):
    """What a card brought about cannot be taken back, or not any more."""

    code = "CANNOT_BE_UNDONE"


class ReviewRefused(BusinessRefusal):
    """Nothing was approved that could be reviewed."""

    code = "REVIEW_REFUSED"
