"""Whole orders: gateway, slot, the real step engine, real scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cluster import verify
from cluster.evidence import packages_of
from contracts import OrderState, PlanDefinition, StatusReport, TaskOrder
from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.capabilities.builtin import builtin_capabilities
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.engine.engine import Engine
from runtime.engine.fold import fold_order
from runtime.ledger.port import Lease
from runtime.settings import BlackboardSettings, EngineSettings, SlotSettings
from tests.cluster.conftest import Rig
from tests.fakes.engine_world import CardGate
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio

SMALL = SlotSettings(count=1, cpu_s=1, wall_s=30, memory_mib=512, output_kib=64, result_kib=64)


async def run(
    rig: Rig, *steps: dict[str, Any], settings: SlotSettings = SMALL, order: TaskOrder | None = None
) -> StatusReport:
    order = order or an_order(plan=PlanDefinition.model_validate({"steps": steps}))
    board = LedgerBlackboard(
        rig.store.ledger, order.execution_id, organisation=order.organisation, settings=BlackboardSettings()
    )

    def engine_for(leases: Sequence[Lease]) -> Engine:
        return Engine(
            store=rig.store, router=Router(Registry(builtin_capabilities(settings))), gate=CardGate(),
            clock=rig.clock, settings=EngineSettings(backoff_first_s=0.01), blackboard=board, delegate=None,
            leases=leases, cancelled=lambda: False, redact=lambda value: value,
        )  # fmt: skip

    return await rig.gateway(engine_for, settings).submit(order)


def script(text: str, step: str = "do", **inputs: Any) -> dict[str, Any]:
    return {"id": step, "use": "python", "with": {"script": text, **inputs}}


async def test_an_order_is_done_in_a_slot_and_its_evidence_is_sealed(rig: Rig) -> None:
    report = await run(
        rig,
        {"id": "note", "use": "files.write", "with": {"path": "n.txt", "text": "3"}},
        {**script("result = int(open('n.txt').read()) + inputs['a']", a=4), "after": ["note"]},
        {"id": "tell", "use": "blackboard.write", "with": {"key": "n", "value": "{{ do.result }}"}},
    )

    events = await rig.store.ledger.read(report.order_id)
    (package,) = packages_of(await rig.store.ledger.read(f"evidence/{report.order_id.ulid}"))
    assert report.state is OrderState.DONE
    assert report.evidence == (package.evidence_id,)
    assert verify(package, events) == []
    assert package.count >= 4
    assert fold_order(events).allocation is not None
    assert await rig.store.leases.live("slot/") == []


async def test_an_order_that_ended_keeps_its_report_and_its_one_package(rig: Rig) -> None:
    order = an_order()
    first = await run(rig, order=order)

    assert await run(rig, order=order) == first
    assert len(await rig.store.ledger.read(f"evidence/{order.order_id.ulid}")) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nraise KeyError('rows')", "The script of the plan failed in line 2: KeyError: 'rows'"),
        ("for _ in range(100): print('x' * 1_000_000)", "printed more than is kept"),
        ("while True: pass", "used up its computing time"),
        ("a = bytearray(2_000_000_000)", "needed more memory than the slot has"),
        ("result = 'x' * 50_000_000", "larger than a step may hand on"),
        ("result = {1, 'a'}", "no JSON"),
        ("import os; os._exit(0)", "ended by itself before it was done"),
        ("import os; os.closerange(0, 200); result = 1", "ended by itself before it was done"),
    ],
)
async def test_a_script_that_goes_wrong_is_told_in_plain_words(rig: Rig, text: str, said: str) -> None:
    report = await run(rig, script(text))

    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert said in report.error.message
    assert "Traceback" not in report.error.message


async def test_a_script_that_never_ends_is_told_in_plain_words(rig: Rig) -> None:
    report = await run(rig, script("import time; time.sleep(60)"), settings=SMALL.model_copy(update={"wall_s": 1}))

    assert report.error is not None
    assert "ran for 1 s without ending" in report.error.message


async def test_a_script_that_deletes_its_folder_does_not_stop_the_next_step(rig: Rig) -> None:
    report = await run(
        rig,
        script("import os, shutil; shutil.rmtree(os.environ['HOME']); result = 1"),
        {**script("result = inputs['before'] + 1", step="then", before="{{ do.result }}")},
    )

    assert (report.state, report.output) == (OrderState.DONE, {"result": 2})


async def test_numpy_works_within_the_limits_of_a_slot(rig: Rig) -> None:
    text = "import numpy; result = {'mean': numpy.mean(inputs['a']), 'odd': numpy.array([1, float('nan')])}"
    report = await run(rig, script(text, a=[1, 2, 6]), settings=SlotSettings(count=1))

    assert report.output == {"result": {"mean": 3.0, "odd": [1.0, None]}}
