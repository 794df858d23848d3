"""What the HTTP API gives of decision cards."""

from __future__ import annotations

from pydantic import AwareDatetime

from console.api.model import ApiModel
from console.api.shown import CardShown
from console.ports_approvals import BulkDecided
from console.views import CardStanding
from contracts import CardId, Decision, DecisionCard, Delegation, Edit, ExecutionId, Sha256


class WholeCard(CardShown):
    """A decision card with everything that a person has to know to decide, and what became of it."""

    card: DecisionCard
    """As it was raised, or as it was last edited: exactly what a yes brings about."""
    card_sha256: Sha256
    """Hash of that; a decision gives it back."""
    stands: str
    """`open`, `escalated`, `approved`, `denied`, `expired`, `withdrawn`, `superseded`, `executed`, `execution_failed`,
    `undone`."""
    decisions: tuple[Decision, ...] = ()
    """Who decided what, when, from where, on what version."""
    edits: tuple[Edit, ...] = ()
    """What was changed before it was decided: both forms."""
    passed: bool = False
    """Whether its mode let an option pass without a person."""
    acted_at: AwareDatetime | None = None
    """When the last of it was carried out, or had failed."""
    back_by: str | None = None
    """Who had it taken back."""
    reviewed: str = ""
    """`right` or `serious`, once somebody said so."""
    reason: str = ""
    """Why it was withdrawn, or what failed."""

    @classmethod
    def whole(cls, standing: CardStanding) -> WholeCard:
        """Return everything of a card."""
        return cls(
            **dict(CardShown.of(standing)),
            card=standing.card,
            card_sha256=standing.card_sha256,
            stands=standing.stands,
            decisions=standing.decisions,
            edits=standing.edits,
            passed=standing.passed,
            acted_at=standing.acted_at,
            back_by=standing.back_by,
            reviewed=standing.reviewed,
            reason=standing.reason,
        )


class CardList(ApiModel):
    """One page of cards: open ones by deadline, or all of them, newest first."""

    cards: tuple[WholeCard, ...]
    """The page."""
    next: str | None = None
    """Give it back as `cursor` for the page after this one; absent on the last page."""


class CardDecided(ApiModel):
    """What became of one card of many."""

    card_id: CardId
    """The card."""
    card: WholeCard | None = None
    """How it stands now, where it was decided."""
    code: str = ""
    """Code of the error, where it was not."""
    message: str = ""
    """Why it was not."""

    @classmethod
    def of(cls, each: BulkDecided) -> CardDecided:
        """Return what became of a card."""
        card = None if each.standing is None else WholeCard.whole(each.standing)
        return cls(card_id=each.card_id, card=card, code=each.code, message=each.message)


class CardsDecided(ApiModel):
    """What became of each of several cards."""

    decided: tuple[CardDecided, ...]
    """In the order in which they were named."""


class BeingUndone(ApiModel):
    """That something is being taken back."""

    card: WholeCard
    """The card."""
    execution_id: ExecutionId
    """The execution that takes it back."""


class DelegationList(ApiModel):
    """Who may decide whose cards, oldest first."""

    delegations: tuple[Delegation, ...]
    """Also those that are over."""
