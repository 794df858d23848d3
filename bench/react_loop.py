"""Part *loop* of `bench/react.py`: what a request costs over the bare client."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from model_endpoint import CALLS
from rig import ROOT, OpenGate, Work, folders, kind_of, median

from contracts import Event, EventId, ExecutionId, OrderId, OrderState, PlanDefinition, TaskOrder
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.clock import SystemClock
from runtime.engine.engine import Engine
from runtime.garbage import pass_over_the_start
from runtime.ledger import open_store
from runtime.ledger.port import Append, Store
from runtime.model.client import ModelClient, Terms
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.model.profile import Profile
from runtime.model.profiles import Profiles
from runtime.settings import LedgerSettings
from runtime.settings.groups import EngineSettings
from runtime.telemetry.redaction import redact

STEP = {"id": "think", "react": "Count.", "tools": ["work"], "iterations": CALLS + 1, "gives": {"count": "integer"}}
REQUESTS = CALLS + 1
_HASH = "0" * 64


class Forgetful:
    """A store that takes everything and keeps nothing: what the engine costs without a commit."""

    def __init__(self) -> None:
        self.ledger: Any = self
        self.leases: Any = self
        self.blobs: Any = self
        self.fragments: Any = self
        self._id = EventId.new()
        self._position = 0
        self._versions: dict[str, int] = {}

    async def append(self, *appends: Append, then: Any = None, **_: Any) -> tuple[Event, ...]:
        events = tuple(self._event(append, new) for append in appends for new in append.events)
        if then is not None:
            then(events)
        return events

    async def read(self, stream: str, *, after_version: int = 0) -> list[Event]:
        return []

    async def snapshots(self, stream: str) -> list[Any]:
        return []

    async def close(self) -> None:
        """Keep it that way."""

    def _event(self, append: Append, new: Any) -> Event:
        self._position += 1
        version = self._versions[append.stream] = self._versions.get(append.stream, 0) + 1
        return Event.model_construct(
            id=self._id, source=append.source, type=new.type, subject=append.stream, time=datetime.now(UTC),
            data=new.data, organisation=append.organisation, stream_version=version, position=self._position,
            payload_sha256=_HASH, chain_sha256=_HASH,
        )  # fmt: skip


class Listening(Endpoint):
    """Keeps the bodies that were sent, for the bare client to send the same."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url, None, stalled_s=60)
        self.bodies: list[Mapping[str, Any]] = []

    async def complete(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.bodies.append(body)
        return await super().complete(body)

    async def stream(self, body: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        self.bodies.append(body)
        async for part in super().stream(body):
            yield part


def order() -> TaskOrder:
    return TaskOrder(
        order_id=OrderId.new(), execution_id=ExecutionId.new(), organisation="bench", employee="worker",
        issued_by="bench", objective="Count to ten.", requested_by="bench", trace_id="0" * 32,
        plan=PlanDefinition.model_validate({"steps": [STEP]}),
    )  # fmt: skip


def client_on(store: Any, endpoint: Endpoint, *, stream: bool) -> ModelClient:
    """Return the client as the program makes it, for an endpoint that is known already."""
    profiles = Profiles(store.ledger, "bench", endpoint.base_url)
    profiles._known["bench"] = Profile()
    terms = Terms(most_tokens=1_000, context_tokens=128_000, stream=stream, prices={})
    return ModelClient(endpoint, {"reason": "bench"}, terms=terms, limiter=LocalLimiter(16), profiles=profiles)


async def ours(store: Store, model: ModelClient) -> float:
    """Return how long one step of ten calls took, s."""
    board: Any = None
    engine = Engine(
        store=store, router=Router(Registry([Work(lambda: None)])), gate=OpenGate(), clock=SystemClock(),
        settings=EngineSettings(), blackboard=board, delegate=None, leases=(), cancelled=lambda: False, redact=redact,
        model=model,
    )  # fmt: skip
    task = order()
    begun = time.perf_counter()
    report = await engine.run(task)
    taken = time.perf_counter() - begun
    assert report.state is OrderState.DONE, report
    return taken


async def bare(client: Any, bodies: Sequence[Mapping[str, Any]]) -> float:
    """Return how long the same requests took when the answers are read and the tool is a line of Python, s."""
    begun = time.perf_counter()
    for body in bodies:
        answer = await client.chat.completions.create(**body)
        text = ""
        if body.get("stream"):
            async for chunk in answer:
                for choice in chunk.choices:
                    for call in choice.delta.tool_calls or ():
                        text += call.function.arguments or ""
        else:
            text = answer.choices[0].message.tool_calls[0].function.arguments
        assert json.loads(text)
    return time.perf_counter() - begun


@contextmanager
def endpoint() -> Iterator[str]:
    """Run the endpoint in a process of its own; give its address."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "bench" / "model_endpoint.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=dict(os.environ), text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.stdin.close()
        process.wait()


async def measure(folder: Path, address: str, *, stream: bool, repeat: int) -> dict[str, float]:
    """Return medians of a request, ms: of the bare client, and what ours adds without and with commits."""
    from openai import AsyncOpenAI

    listening, forgetful = Listening(address), Forgetful()
    with tempfile.TemporaryDirectory(dir=folder, prefix="react-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        await ours(forgetful, client_on(forgetful, listening, stream=stream))
        bodies = listening.bodies[:REQUESTS]
        client = AsyncOpenAI(api_key="none", base_url=address, max_retries=0)
        own = Endpoint(address, None, stalled_s=60)
        loose, durable = (client_on(one, own, stream=stream) for one in (forgetful, store))
        for _ in range(3):
            await bare(client, bodies), await ours(forgetful, loose), await ours(store, durable)
        pass_over_the_start()
        taken: dict[str, list[float]] = {"bare": [], "loose": [], "durable": []}
        for _ in range(repeat):
            taken["bare"].append(await bare(client, bodies))
            taken["loose"].append(await ours(forgetful, loose))
            taken["durable"].append(await ours(store, durable))
        for each in (client, own, listening, store):
            await each.close()
    plain, loose_ms, durable_ms = (median(taken[name]) / REQUESTS * 1_000 for name in ("bare", "loose", "durable"))
    return {
        "bare_ms": round(plain, 2), "added_ms": round(loose_ms - plain, 2),
        "added_durable_ms": round(durable_ms - plain, 2),
    }  # fmt: skip


def loop_part(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure in memory, else in the first folder there is: the disk is no part of what is compared."""
    folder = folders(arguments.folder)[0]
    with endpoint() as address:
        found = {
            name: asyncio.run(measure(folder, address, stream=name == "stream", repeat=arguments.repeat))
            for name in ("stream", "whole")
        }
    return {"on": kind_of(folder), "calls": CALLS, **found}
