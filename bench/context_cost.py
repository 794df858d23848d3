"""Part *cost* of `bench/context.py`: processor time of putting prompts together after many steps."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from context_runs import Windowed
from context_texts import KINDS, value_of
from react_loop import Forgetful
from rig import OpenGate, median

from contracts import Event, ExecutionId, OrderId, OrderState, PlanDefinition, TaskOrder, Usage
from runtime.canonical import sha256
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.clock import SystemClock
from runtime.engine.engine import Engine
from runtime.engine.react import asking, beginning
from runtime.garbage import pass_over_the_start
from runtime.ledger.port import Append
from runtime.model.port import ModelAnswer, ModelRequest, ToolCall
from runtime.settings.groups import EngineSettings
from runtime.telemetry.redaction import redact

REQUESTS = 3
"""Of each step: two calls, and the answer."""
LENGTH = 9_000
"""Characters of a result: more than stays in a conversation."""
STEPS_MOST = 500
"""Of a plan."""
_MS = 1_000


class InMemory(Forgetful):
    """A store that keeps nothing but blobs, which prompts are made from."""

    def __init__(self) -> None:
        super().__init__()
        self._there: dict[str, bytes] = {}

    async def append(self, *appends: Append, blobs: Sequence[bytes] = (), **more: Any) -> tuple[Event, ...]:
        self._there |= {sha256(blob): blob for blob in blobs}
        return await super().append(*appends, **more)

    async def get(self, name: str) -> bytes:
        return self._there[name]


class Timed:
    """Adds up the processor time of functions of the engine, which it stands in for while the bench runs."""

    def __init__(self) -> None:
        self.opening: list[float] = []
        self.request: list[float] = []

    def around(self, work: Callable[..., Awaitable[Any]], into: list[float]) -> Callable[..., Awaitable[Any]]:
        """Nothing else runs beside it here, so that the time of the thread is its own."""

        async def timed(*given: Any, **named: Any) -> Any:
            begun = time.thread_time()
            made = await work(*given, **named)
            into.append((time.thread_time() - begun) * _MS)
            return made

        return timed


class Large:
    """A tool whose every result is stored; no two are alike."""

    def __init__(self) -> None:
        from random import Random

        self.spec = CapabilitySpec("large", "builtin_tool", "Gives a table.", {}, {}, open_arguments=True)
        self._value, self._given = value_of(KINDS[0], LENGTH, Random(1), ()), 0

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> CallResult:
        self._given += 1
        return CallResult(output={**self._value, "number": self._given})


class Twice(Windowed):
    """Calls a tool in two answers and ends the step with the third."""

    def __init__(self) -> None:
        self._asked = 0

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self._asked += 1
        call = ToolCall("c", "large", {"n": self._asked})
        if self._asked % REQUESTS == 0:
            call = ToolCall("c", "step_control", {"say": "done", "output": {"finding": f"Done after {self._asked}."}})
        return ModelAnswer("", [call], Usage(tokens_in=10))


def order(stored: int, repeat: int) -> TaskOrder:
    """Return an order with so many stored results, and behind them `repeat` steps of a model.

    As many as a plan takes are steps of their own; the others are the repetitions of one.
    """
    own = min(stored, STEPS_MOST - repeat - 1)
    steps: list[dict[str, Any]] = [{"id": f"d{number}", "use": "large"} for number in range(own)]
    if stored > own:
        each = {"use": "large", "for_each": "{{ numbers }}", "at_once": 64, "with": {"n": "{{ item }}"}}
        steps.append({"id": "each", **each})
    steps += [
        {
            "id": f"r{number}", "react": "Look at what is late.", "tools": ["large"], "gives": {"finding": "string"},
            "after": [steps[-1]["id"] if number == 0 else f"r{number - 1}"],
        }
        for number in range(repeat)
    ]  # fmt: skip
    return TaskOrder(
        order_id=OrderId.new(), execution_id=ExecutionId.new(), organisation="bench", employee="worker",
        issued_by="bench", objective="Settle what is late.", requested_by="bench", trace_id="0" * 32,
        plan=PlanDefinition.model_validate({"parameters": {"numbers": {"type": "array"}}, "steps": steps,
                                             "dispatch": "sequential"}),
        inputs={"numbers": list(range(stored - own))},
    )  # fmt: skip


async def cost(stored: int, *, repeat: int) -> dict[str, Any]:
    """Return the processor time of a step's context work after so many stored results, ms."""
    timed, store, board = Timed(), InMemory(), _no_board()
    kept = (beginning.opened, asking.fitting_request)
    beginning.opened = timed.around(beginning.opened, timed.opening)
    asking.fitting_request = timed.around(asking.fitting_request, timed.request)
    pass_over_the_start()
    try:
        engine = Engine(
            store=store, router=Router(Registry([Large()])), gate=OpenGate(), clock=SystemClock(),
            settings=EngineSettings(), blackboard=board, delegate=None, leases=(), cancelled=lambda: False,
            redact=redact, model=Twice(),
        )  # fmt: skip
        report = await engine.run(order(stored, repeat))
    finally:
        beginning.opened, asking.fitting_request = kept
    assert report.state is OrderState.DONE, report
    assert len(timed.opening) == repeat and len(timed.request) == repeat * REQUESTS
    requests = [sum(timed.request[at : at + REQUESTS]) for at in range(0, len(timed.request), REQUESTS)]
    whole = [opening + request for opening, request in zip(timed.opening, requests, strict=True)]
    return {
        "stored": stored,
        "step_ms": round(median(whole), 3),
        "opening_ms": round(median(timed.opening), 3),
        "request_ms": round(median(requests) / REQUESTS, 3),
        "slowest_step_ms": round(max(whole), 3),
    }


def _no_board() -> Any:
    return None
