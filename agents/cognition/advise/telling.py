"""What those are told who could have decided what passed by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from contracts import DecisionCard, Notification, NotificationId, Option
from governance.access import People
from governance.approvals import ApprovalRule
from governance.approvals.effect_cards import SayIn
from governance.approvals.modes import can_be_undone
from governance.notifications import LONGEST, SENT
from runtime.capabilities.port import CallContext
from runtime.ledger.port import Append, NewEvent
from runtime.texts import in_language


def told_append(
    card: DecisionCard, option: Option, rule: ApprovalRule, *, people: People, context: CallContext, say_in: SayIn
) -> Sequence[Append]:
    """Return the append of one message to everybody who could have decided; none where nobody is there."""
    to = dict.fromkeys(person.id for name in card.who for person in people.members(name))
    if not to:
        return ()
    order, say = context.order, say_in(context.order.language)
    text = say(
        "card-passed-told", question=in_language(card.question, order.language), rule=card.policy,
        option=in_language(option.title, order.language), mode=card.mode.value,
    )  # fmt: skip
    if can_be_undone(option):
        until = context.now + timedelta(seconds=rule.undo_within_s)
        text += "\n" + say("card-passed-undo", card=card.card_id, until=f"{until:%Y-%m-%d %H:%M}")
    key = f"passed/{card.card_id}"
    message = Notification(
        notification_id=NotificationId.under(order.organisation, key), execution_id=order.execution_id,
        order_id=order.order_id, step=context.step, organisation=order.organisation, employee=order.employee,
        to=tuple(to), text=text[:LONGEST], key=key, sent_at=context.now,
    )  # fmt: skip
    append = Append(
        message.notification_id, [NewEvent(SENT, {"notification": message.to_json()})], 0, order.organisation,
        f"/organisation/{order.organisation}/employee/{order.employee}", order.execution_id, order.trace_id,
    )  # fmt: skip
    return (append,)
