"""Requests of the past, put together again from the ledger: what a model was told, part by part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from contracts import Event, StepId, Usage
from runtime.context.budget import Squeeze
from runtime.context.prompt import Prompt
from runtime.engine.context import Run
from runtime.engine.fold import apply
from runtime.engine.other_way import form_of
from runtime.engine.react.beginning import prepare
from runtime.engine.react.messages import prompt_of, request_of, request_sha256
from runtime.engine.react.state import React
from runtime.engine.react.talk import recall_answers
from runtime.engine.recall import recall
from runtime.engine.repeat import scope_of
from runtime.engine.view import OrderView


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One request that a model answered."""

    step: StepId
    index: int | None
    answer: int
    """Number of the answer that came to it."""
    at: datetime
    """When it was answered."""
    prompt: Prompt
    tools: Sequence[str]
    same: bool
    """Whether it is what was sent, by its hash. It is not where settings or the program changed since."""
    usage: Usage
    """What the answer took."""


async def past_requests(
    events: Sequence[Event], begin: Callable[[OrderView], Awaitable[Run]]
) -> AsyncIterator[PastRequest]:
    """Yield every request of an order that was answered, oldest first; nothing is written.

    Args:
        events: the order's stream.
        begin: gives the run of an order that stands as the view says.
    """
    view = OrderView()
    for event in events:
        if event.type == "model.answered" and event.data is not None and view.order is not None:
            yield await _request_before(event, await begin(view))
        apply(view, event)


async def _request_before(event: Event, run: Run) -> PastRequest:
    data: Mapping[str, Any] = event.data or {}
    name, index, view = data["step"], data.get("index"), run.view
    for each in run.order.plan.steps:
        if view.state_of(each.id).settled:
            run.outputs.keep(each.id, partial(recall, view, run.blobs, each))
    unit, step = view.unit(name, index), run.step(name)
    unit.react = unit.react or React()
    if unit.react.offered is None:
        unit.react.offered = ()
    if unit.react.opened is None and unit.react.opened_sha256 is None:
        unit.react.opened = ()  # nothing was told, or it was erased; what is there now was not told then
    talk = await prepare(run, form_of(step, unit), unit, await scope_of(run, step, index))
    await recall_answers(run, talk.react)
    talk.squeeze = Squeeze(data.get("squeezed", 0))
    prompt = prompt_of(talk)
    request = request_of(talk, prompt)
    return PastRequest(
        step=name, index=index, answer=data["answer"], at=event.time, prompt=prompt,
        tools=[tool["function"]["name"] for tool in request.tools],
        same=request_sha256(request) == data["request_sha256"],
        usage=Usage.read(data.get("usage", {})),
    )  # fmt: skip
