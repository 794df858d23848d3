"""Many cards of one kind, decided alike: each gets a decision of its own, and what is final is never among them."""

from __future__ import annotations

from collections.abc import Sequence

from contracts import Effect
from governance.approvals.card import CardView, option_of
from runtime.errors import InvalidArguments


def require_same_kind(views: Sequence[CardView], option: str | None) -> None:
    """Return when the cards may be decided with one gesture.

    They are of one kind where rule, kind, options and capabilities are the same; only the arguments differ. A yes to an
    option that carries out something final is said to one card at a time, and so is one to a card that was edited: no
    hash of what was on the screen comes with a gesture for many. A no may be said to many.

    Raises:
        InvalidArguments: they are of several kinds, one was edited, or the option is final; nothing was decided.
    """
    kinds = {kind_of_card(view) for view in views}
    if len(kinds) > 1:
        names = ", ".join(str(view.card.card_id) for view in views)
        raise InvalidArguments(f"These cards are of {len(kinds)} kinds, so that each is decided by itself: {names}.")
    for view in views:
        if option is not None and view.edits:
            raise InvalidArguments(
                f"{view.card.card_id} was edited, so that a yes to it is said to it alone. Nothing was decided.",
                card=view.card.card_id, option=option,
            )  # fmt: skip
        chosen = option_of(view.card, option)
        final = chosen is not None and any(action.effect is Effect.IRREVERSIBLE for action in chosen.actions)
        if chosen is not None and chosen.actions and (final or not chosen.reversible):
            raise InvalidArguments(
                f"{chosen.id} on {view.card.card_id} cannot be taken back, so that it is decided card by card. Nothing "
                "was decided.",
                card=view.card.card_id, option=chosen.id,
            )  # fmt: skip


def kind_of_card(view: CardView) -> tuple[object, ...]:
    """Return what cards of one kind have in common."""
    card = view.card
    options = tuple((each.id, tuple((act.by, act.use) for act in each.actions)) for each in card.options)
    return (card.organisation, card.policy, card.kind, options)
