"""What the models of an execution were told, put together again from the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from console.resources import Resources
from console.views_prompts import PromptLeftOut, PromptMessage, PromptPart, ShownPrompt
from contracts import ExecutionId, OrderId
from runtime.context.prompt import Said
from runtime.engine.react.past import PastRequest
from runtime.executor import ExecutionRun


class Prompts:
    """The port `Prompts`."""

    _resources: Resources

    async def prompts(self, execution_id: ExecutionId, orders: Sequence[OrderId]) -> Sequence[ShownPrompt]:
        """Return every request of these orders that a model answered, order by order, oldest first."""
        view = await (await self._resources.executor()).view(execution_id)
        organisations = await self._resources.organisations()
        async with organisations.using(view.organisation_sha256, view.home) as wired:
            engine = wired.reading(ExecutionRun.of(view, leases=(), cancelled=lambda: False))
            return [_shown(order, past) for order in orders for past in await engine.past_requests(order)]


def _shown(order: OrderId, past: PastRequest) -> ShownPrompt:
    return ShownPrompt(
        order_id=order,
        step=past.step,
        index=past.index,
        answer=past.answer,
        at=past.at,
        same=past.same,
        tokens_in=past.usage.tokens_in,
        tools=tuple(past.tools),
        messages=tuple(_message(said) for said in past.prompt.said),
        left_out=tuple(PromptLeftOut(each.origin, each.why, each.size) for each in past.prompt.left_out),
    )


def _message(said: Said) -> PromptMessage:
    parts = tuple(
        PromptPart(part.block, part.origin, part.form.value, len(part.text), part.text, part.ref, part.pinned)
        for part in said.all_parts
    )
    return PromptMessage(said.role, parts, tuple(call.name for call in said.calls))
