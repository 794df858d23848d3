"""What an effect gave that happened, as the person tells it who knows: held against what it should give."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Json
from governance.approvals.access_cards import DONE
from governance.approvals.card import CardView
from governance.approvals.effect_cards import HAPPENED
from runtime.errors import InvalidArguments
from runtime.schema import fault_of, json_schema_of


def require_output(view: CardView, option: str | None, output: Mapping[str, Json]) -> None:
    """Return when the output may stand in a decision for this option of the card.

    Raises:
        InvalidArguments: the card asks for none with that option, it does not fit, or somebody told another one.
    """
    card_id = view.card.card_id
    if not view.card.gives or option not in (HAPPENED, DONE):
        raise InvalidArguments(
            f"{card_id} takes no output with {option or 'a no'}: it is told only of what happened, or was done by "
            "hand, and gives something. Leave it out.",
            card=card_id, option=option,
        )  # fmt: skip
    fault = fault_of(dict(output), json_schema_of(view.card.gives))
    if fault is not None:
        raise InvalidArguments(
            f"The output does not fit what the effect gives: {fault} It gives: {', '.join(view.card.gives)}. "
            "Nothing was decided.",
            card=card_id, gives=dict(view.card.gives),
        )  # fmt: skip
    for before in view.decisions:
        if before.output is not None and before.output != output:
            raise InvalidArguments(
                f"{before.by} told another output on {card_id}. Leave yours out, or find out which is true and turn "
                "the card down.",
                card=card_id, by=before.by,
            )  # fmt: skip
