"""Files and evidence of whole orders: gateway, slot, the real step engine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from cluster import this_node
from cluster.evidence import Kept, OrderEvidence, Seal, examine, packages_of
from cluster.workspaces.owned import read_workspace, stream_of
from contracts import (
    Answer,
    Budget,
    CardId,
    Effect,
    EvidenceItem,
    EvidenceKind,
    OrderState,
    PlanDefinition,
    QuestionId,
    StatusReport,
    TaskOrder,
    Workspace,
)
from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.capabilities.builtin import builtin_capabilities
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.engine.engine import Engine
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.settings import BlackboardSettings, EngineSettings, SlotSettings
from tests.cluster.conftest import Rig
from tests.fakes.engine_world import CardGate, Tool
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
TWO = SlotSettings(count=2, allocate_s=5, wall_s=30)
STREAM = stream_of("three-airports", "analyst")


def plan(*steps: dict[str, Any]) -> PlanDefinition:
    after = [{"after": [steps[number - 1]["id"]]} if number else {} for number in range(len(steps))]
    return PlanDefinition.model_validate({"steps": [{**step, **more} for step, more in zip(steps, after, strict=True)]})


def write(path: str, text: str, step: str = "write") -> dict[str, Any]:
    return {"id": step, "use": "files.write", "with": {"path": path, "text": text}}


async def run(rig: Rig, order: TaskOrder, *tools: Tool, reopen: bool = False, cancelled: Any = None) -> StatusReport:
    board = LedgerBlackboard(
        rig.store.ledger, order.execution_id, organisation=order.organisation, settings=BlackboardSettings()
    )

    def engine_for(leases: Sequence[Lease]) -> Engine:
        return Engine(
            store=rig.store, router=Router(Registry([*builtin_capabilities(TWO), *tools])), gate=CardGate(),
            clock=rig.clock, settings=EngineSettings(backoff_first_s=0.01, business_retries=0), blackboard=board,
            delegate=None, leases=leases, cancelled=cancelled or (lambda: False), redact=lambda value: value,
            reopen=reopen, grace_s=0.01,
        )  # fmt: skip

    node = this_node(rig.home, TWO, labels=(), cannot_enforce=())
    return await rig.gateway(engine_for, TWO, node=node).submit(order)


async def files_in_workspace(rig: Rig) -> dict[str, str]:
    found = await read_workspace(rig.store, STREAM)
    return {path: (await rig.store.blobs.get(entry.sha256 or "")).decode() for path, entry in found.manifest.items()}


def owners(*steps: dict[str, Any], **more: Any) -> TaskOrder:
    return an_order(plan=plan(*steps), workspace=Workspace(), **more)


def files_in(found: OrderEvidence) -> list[EvidenceItem]:
    return [each.item for each in found.items if each.item.kind is EvidenceKind.FILE]


class Held:
    """A capability that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.there, self.on = asyncio.Event(), asyncio.Event()
        self.tool = Tool("hold", self._hold)

    async def _hold(self, arguments: Any, context: Any) -> dict[str, Any]:
        self.there.set()
        await self.on.wait()
        return {"n": 1}


async def second_of_two(rig: Rig, order: TaskOrder, path: str, *tools: Tool) -> StatusReport:
    """Return the report of an order that begins, holds until another one has written `path`, and goes on."""
    held = Held()
    running = asyncio.create_task(run(rig, order, held.tool, *tools))
    async with asyncio.timeout(60):
        await held.there.wait()
        assert (await run(rig, owners(write(path, "of the first")))).state is OrderState.DONE
        held.on.set()
        return await running


async def test_two_orders_at_once_that_write_different_files_are_both_done(rig: Rig) -> None:
    order = owners({"id": "wait", "use": "hold"}, write("workspace/b.md", "of the second"))

    report = await second_of_two(rig, order, "workspace/a.md")

    assert report.state is OrderState.DONE
    assert await files_in_workspace(rig) == {"a.md": "of the first", "b.md": "of the second"}


async def test_the_second_writer_of_a_file_keeps_its_result_stops_and_goes_on_when_it_is_resumed(rig: Rig) -> None:
    seen = Tool("seen", lambda arguments, context: {"text": (context.sandbox.folder / "workspace/a.md").read_text()})
    look = {"id": "look", "use": "seen"}
    order = owners({"id": "wait", "use": "hold"}, write("workspace/a.md", "of the second"), look)

    report = await second_of_two(rig, order, "workspace/a.md", seen)

    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert report.error.code == "WORKSPACE_CONFLICT"
    assert seen.calls == []
    assert await files_in_workspace(rig) == {"a.md": "of the first"}
    found = await examine(rig.store, order.order_id)
    kept = [each for each in found.items if each.item.facts.get("name") == "workspace/a.md"]
    assert [each.kept for each in kept] == [Kept.STORED]
    assert (found.seal, found.faults) == (Seal.SEALED, ())
    again = await run(rig, order, Held().tool, seen, reopen=True)
    assert (again.state, again.output) == (OrderState.DONE, {"text": "of the first"})
    assert await files_in_workspace(rig) == {"a.md": "of the first"}


async def test_an_effect_beside_a_conflict_keeps_its_receipt(rig: Rig) -> None:
    def send(arguments: Any, context: Any) -> dict[str, Any]:
        (context.sandbox.folder / "workspace").mkdir()
        (context.sandbox.folder / "workspace/a.md").write_text("of the second")
        return {"receipt": "r1"}

    sending = Tool("send", send, Effect.WRITE)
    order = owners({"id": "wait", "use": "hold"}, {"id": "send", "use": "send"})

    report = await second_of_two(rig, order, "workspace/a.md", sending)
    await run(rig, order, Held().tool, sending, reopen=True)

    assert report.error is not None
    assert report.error.code == "WORKSPACE_CONFLICT"
    assert len(sending.calls) == 1


async def test_a_failed_order_is_sealed_with_what_it_left(rig: Rig) -> None:
    order = an_order(plan=plan(write("a.txt", "1", "one"), {"id": "two", "use": "python", "with": {"script": FAILS}}))

    report = await run(rig, order)

    found = await examine(rig.store, order.order_id)
    assert report.state is OrderState.FAILED
    assert (found.seal, found.faults) == (Seal.SEALED, ())
    assert [(item.step, item.facts["name"]) for item in files_in(found)] == [("one", "a.txt"), ("two", "half.txt")]


FAILS = "open('half.txt', 'w').write('half')\nraise ValueError('no')"


async def test_an_order_that_reached_its_limit_is_sealed(rig: Rig) -> None:
    order = an_order(plan=plan(write("a.txt", "1", "one"), write("b.txt", "2", "two")), budget=Budget(steps=1))

    report = await run(rig, order)

    found = await examine(rig.store, order.order_id)
    assert report.state is OrderState.PARTIAL
    assert (found.seal, found.faults) == (Seal.SEALED, ())


async def test_a_cancelled_order_is_sealed(rig: Rig) -> None:
    order = an_order(plan=plan(write("a.txt", "1", "one"), write("b.txt", "2", "two")))
    events = rig.store.ledger.on_commit

    stopped = False

    def after_the_first(stored: Any) -> None:
        nonlocal stopped
        stopped = stopped or any(event.type == "step.finished" for event in stored)

    end = events(after_the_first)
    try:
        report = await run(rig, order, cancelled=lambda: stopped)
    finally:
        end()

    found = await examine(rig.store, order.order_id)
    assert report.state is OrderState.CANCELLED
    assert (found.seal, found.faults) == (Seal.SEALED, ())
    assert len(packages_of(await rig.store.ledger.read(f"evidence/{order.order_id.ulid}"))) == 1


async def test_a_deleted_file_is_evidence(rig: Rig) -> None:
    script = "import os\nos.unlink('a.txt')\nresult = 1"
    order = an_order(plan=plan(write("a.txt", "1", "one"), {"id": "two", "use": "python", "with": {"script": script}}))

    await run(rig, order)

    found = await examine(rig.store, order.order_id)
    assert [item.facts.get("removed") for item in files_in(found)] == [None, True]


async def test_steps_side_by_side_keep_each_file_once(rig: Rig) -> None:
    steps = [write(f"{number}.txt", str(number), f"s{number}") for number in range(8)]
    order = an_order(plan=PlanDefinition.model_validate({"steps": steps}))

    report = await run(rig, order)

    found = await examine(rig.store, order.order_id)
    assert report.state is OrderState.DONE
    assert {item.facts["name"] for item in files_in(found)} == {f"{number}.txt" for number in range(8)}
    assert found.faults == ()


async def test_files_are_there_again_when_a_person_has_answered_and_the_slot_is_another(rig: Rig) -> None:
    look = Tool("look", lambda arguments, context: {"text": (context.sandbox.folder / "a.txt").read_text()})
    ask = {"id": "ask", "ask": {"text": "Go on?", "who": "clerks", "choices": ["yes", "no"]}}
    order = an_order(plan=plan(write("a.txt", "of before", "one"), ask, {"id": "look", "use": "look"}))
    waiting = await run(rig, order, look)
    assert waiting.state is OrderState.WAITING
    assert not any((rig.home / "slots").iterdir())
    await answer(rig, order, waiting.waiting_for[0])

    report = await run(rig, order, look)

    assert (report.state, report.output) == (OrderState.DONE, {"text": "of before"})
    written = [event for event in await rig.store.ledger.read(order.order_id) if event.type == "step.finished"]
    assert [event.data["step"] for event in written if event.data] == ["one", "ask", "look"]


async def answer(rig: Rig, order: TaskOrder, question: CardId | QuestionId) -> None:
    said = Answer(question_id=QuestionId(question), value="yes", by="kim", at=rig.clock.now())
    event = NewEvent("question.answered", {"answer": said.to_json()})
    await rig.store.ledger.append(Append(question, (event,), 1, order.organisation, "/test"))
