"""What a face needs of decision cards beyond looking and deciding; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from console.views import CardStanding
from contracts import CardId, Delegation, DelegationId, ExecutionId, Json


@dataclass(frozen=True, slots=True)
class BulkDecided:
    """What became of one card of many."""

    card_id: CardId
    standing: CardStanding | None = None
    """How it stands now, where it was decided."""
    code: str = ""
    """Code of the error, where it was not."""
    message: str = ""
    """Why it was not, in words."""


@dataclass(frozen=True, slots=True)
class Taken:
    """That something is being taken back."""

    standing: CardStanding
    execution_id: ExecutionId
    """The execution that takes it back."""


class Approvals(Protocol):
    """Cards edited, decided together, taken back and reviewed; and who decides whose cards. `via` says from where."""

    async def edit_card(
        self, card_id: CardId, *, option: str, changes: Sequence[Mapping[str, Json] | None], by: str | None,
        reason: str = "", via: str | None = None,
    ) -> CardStanding:  # fmt: skip
        """Give the actions of an option other arguments, before anybody decides.

        Args:
            changes: for each action, in order, what takes the place of its arguments of these names; None leaves it.

        Raises:
            InvalidArguments: the arguments do not fit or a rule forbids them, or the card has nothing to edit.
            PermissionRefused: that person may not decide the card.
            BusinessRefusal: it is closed.
        """
        ...

    async def decide_many(
        self, cards: Sequence[CardId], *, option: str | None, reason: str, by: str | None, via: str | None = None
    ) -> Sequence[BulkDecided]:
        """Decide cards of one kind alike, each on its own; one that cannot be decided says why and hinders no other.

        Raises:
            InvalidArguments: they are of several kinds, the option cannot be taken back, or there are too many.
            NotFound: one of them is not there.
        """
        ...

    async def undo_card(
        self, card_id: CardId, *, by: str | None, reason: str = "", via: str | None = None
    ) -> Taken:  # fmt: skip
        """Have what a card brought about taken back; return the execution that does it. Carries nothing out itself.

        Raises:
            PermissionRefused: that person could not have decided the card.
            BusinessRefusal: there is nothing to take back, no way to, or its time is over.
        """
        ...

    async def review_card(
        self, card_id: CardId, *, right: bool, by: str | None, reason: str = "", via: str | None = None
    ) -> CardStanding:
        """Say of what was approved whether it was right; a serious error sets its kind of action back to strict.

        Raises:
            PermissionRefused: that person could not have decided the card, or did.
            BusinessRefusal: nothing was approved.
            InvalidArguments: an error without a reason.
        """
        ...

    async def to_review(self, *, organisation: str | None = None, limit: int = 50) -> Sequence[CardStanding]:
        """Return the sample of what passed by itself that nobody reviewed yet, oldest first."""
        ...

    async def delegations(self, organisation: str) -> Sequence[Delegation]:
        """Return what was ever delegated in an organisation, oldest first."""
        ...

    async def delegate(
        self, organisation: str, *, giver: str | None, taker: str, starts: str | None, ends: str,
        policies: Sequence[str] = (), by: str | None, reason: str = "", via: str | None = None,
    ) -> Delegation:  # fmt: skip
        """Record that `taker` may decide the cards of `giver` for a while.

        Args:
            giver: None means whoever acts.
            starts: a day or a local time of the organisation; None means now.
            ends: a day, which is included, or a local time.

        Raises:
            InvalidArguments: somebody is not there, or the times make no sense.
            PermissionRefused: somebody else than the giver or an administrator wants it.
        """
        ...

    async def end_delegation(
        self, organisation: str, delegation_id: DelegationId, *, by: str | None, via: str | None = None
    ) -> Delegation:
        """End a delegation before its time; the giver, the taker and administrators may."""
        ...

    async def only_organisation(self) -> str:
        """Return the organisation of this ledger, where there is one; raise InvalidArguments where there are several.

        Raises:
            NotFound: nothing was ever run here.
        """
        ...

    async def rebuild_cards(self) -> int:
        """Make the table by which cards are listed again from their events; return how many there are."""
        ...
