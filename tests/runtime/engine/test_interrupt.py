from __future__ import annotations

import asyncio

import pytest

from runtime.engine.interrupt import Interrupter
from runtime.engine.outcome import Stop

pytestmark = pytest.mark.anyio


class Switch:
    """Whether the execution is cancelled; remembers when somebody looked."""

    def __init__(self) -> None:
        self.on = False
        self.looked = asyncio.Event()

    def __call__(self) -> bool:
        self.looked.set()
        return self.on


async def for_ever() -> None:
    await asyncio.Event().wait()


async def test_work_gives_what_it_gives_and_nothing_stays_behind() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    before = asyncio.all_tasks()
    assert await Interrupter(Switch()).run(work(), grace_s=0) == "done"
    assert asyncio.all_tasks() == before


async def test_many_calls_are_stopped_by_one_look() -> None:
    switch = Switch()
    interrupter = Interrupter(switch)
    calls = [asyncio.ensure_future(interrupter.run(for_ever(), grace_s=0)) for _ in range(3)]
    await asyncio.wait_for(switch.looked.wait(), 60)
    switch.on = True

    ends = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)

    assert [type(end) for end in ends] == [Stop] * 3
    assert all(call.cancelling() == 0 for call in calls)


async def test_the_task_goes_on_after_a_stop_and_can_be_cancelled_by_others() -> None:
    switch = Switch()
    switch.on = True
    interrupter = Interrupter(switch)
    stopped = asyncio.Event()

    async def worker() -> None:
        with pytest.raises(Stop):
            await interrupter.run(for_ever(), grace_s=0)
        stopped.set()
        await for_ever()

    task = asyncio.ensure_future(worker())
    await asyncio.wait_for(stopped.wait(), 60)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)


async def test_a_cancellation_from_outside_is_no_stop() -> None:
    call = asyncio.ensure_future(Interrupter(Switch()).run(for_ever(), grace_s=0))
    await asyncio.sleep(0)
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


async def test_within_its_grace_work_ends_by_itself() -> None:
    switch = Switch()
    switch.on = True

    async def work() -> str:
        await switch.looked.wait()
        return "done"

    assert await asyncio.wait_for(Interrupter(switch).run(work(), grace_s=60), 60) == "done"


async def test_what_was_done_in_spite_of_the_stop_is_not_thrown_away() -> None:
    switch = Switch()
    switch.on = True

    async def stubborn() -> str:
        try:
            await for_ever()
        except asyncio.CancelledError:
            return "sent"
        return "never"

    call = asyncio.ensure_future(Interrupter(switch).run(stubborn(), grace_s=0))

    assert await asyncio.wait_for(call, 60) == "sent"
    assert call.cancelling() == 0


async def test_a_time_out_around_it_stays_a_time_out() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await Interrupter(Switch()).run(for_ever(), grace_s=0)
