"""Takes back what people were asked when the work that waited for it will not go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.branches import lies_in, orders_of
from contracts import CardKind, ExecutionId, Name
from governance.access import People
from governance.approvals import ApprovalGateway
from governance.questions import QuestionDesk
from runtime.clock import Clock
from runtime.ledger.port import Store

if TYPE_CHECKING:
    from governance.approvals.index import CardIndex  # it imports SQLAlchemy, which takes 0.4 s


_STAY = (CardKind.IN_DOUBT, CardKind.PROPOSAL)
"""Whether an effect happened still has to be found out; how the organisation works does not hang on one execution."""


async def withdraw(
    store: Store,
    index: CardIndex,
    clock: Clock,
    execution_id: ExecutionId,
    organisation: Name,
    *,
    branch: str | None = None,
) -> None:
    """Withdraw the open cards and questions of a cancelled execution, or those of a cancelled branch of it.

    A card in doubt stays: whether an effect happened still has to be found out.
    """
    what = "the execution" if branch is None else f"the branch {branch}"
    orders = {} if branch is None else await orders_of(store, execution_id)
    gateway, desk = ApprovalGateway(store, clock, People(()), organisation), QuestionDesk(store, clock)
    for card_id in await index.of_execution(execution_id):
        card = (await gateway.get(card_id)).card
        inside = branch is None or lies_in(branch, orders.get(str(card.order_id)), card.step)
        if inside and card.kind not in _STAY:
            await gateway.withdraw(card.card_id, f"{what} was cancelled")
    for question in await desk.open_questions():
        inside = branch is None or lies_in(branch, orders.get(str(question.order_id)), question.step)
        if inside and question.execution_id == execution_id:
            await desk.withdraw(question.question_id, f"{what} was cancelled")
