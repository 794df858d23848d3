"""Rounds of the heartbeat: what was noticed is acted on once, in an execution that people can look at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.cognition.heartbeat.specs import SPECS
from console.application import SiliconApplication
from console.beats.beat import Beat
from console.resources import Resources
from contracts import ExecutionRequest, OrderState, PlanDefinition, Step
from runtime.canonical import sha256
from runtime.errors import BusinessRefusal
from runtime.executor import ExecutionView
from runtime.ledger.port import Append, Cursor, NewEvent
from tests.console.beats.desk import executions, make_desk, served, work_off
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
LISTENS = """\
on: note.written
severity: high
raises: {{skill: {skill}, goal: "Look at {{{{ subject }}}}", advances: {advances}}}
"""


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 12, 1, 5, 30, tzinfo=UTC))


@pytest.fixture
async def resources(tmp_path: Path, clock: HandClock) -> AsyncIterator[Resources]:
    async with served(tmp_path / "home", clock) as resources:
        yield resources


async def note(resources: Resources, name: str) -> None:
    ledger = (await resources.store()).ledger
    stream = f"note/{name}"
    version = len(await ledger.read(stream))
    await ledger.append(Append(stream, [NewEvent("note.written", {})], version, "desk", "/organisation/desk"))


def rounds(views: list[ExecutionView]) -> list[ExecutionView]:
    return [view for view in views if view.request.requested_by == "heartbeat/desk"]


def others(views: list[ExecutionView]) -> list[ExecutionView]:
    return [view for view in views if view.request.requested_by != "heartbeat/desk"]


def output(view: ExecutionView) -> dict[str, Any]:
    assert view.report is not None and view.report.state is OrderState.DONE, view.report
    assert isinstance(view.report.output, dict)
    return view.report.output


async def go_on(beat: Beat, resources: Resources, clock: HandClock, minutes: int = 2) -> None:
    """Let some minutes pass, with a turn and the work of each."""
    for _ in range(minutes):
        clock.advance(61)
        await beat.go()
        await work_off(resources)


async def test_what_is_noticed_becomes_a_round_and_its_goal_an_execution(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    await note(resources, "one")
    await go_on(beat, resources, clock, 4)

    views = await executions(resources)
    (one,), (begun,) = rounds(views), others(views)
    told = output(one)
    assert told["signals"] == 1 and told["opened"] == 1 and told["held"] == []
    assert told["begun"] == [
        {
            "sensor": "notes", "key": "notes:note/one", "execution": str(begun.execution_id),
            "goal": "Look at note/one", "advances": "order",
        }
    ]  # fmt: skip
    assert begun.request.requested_by == "sensor/notes" and begun.request.caused_by == ("sensor/notes",)
    assert begun.report is not None and begun.report.state is OrderState.DONE


async def test_events_of_one_key_are_acted_on_once(tmp_path: Path, clock: HandClock, resources: Resources) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    for _ in range(3):
        await note(resources, "one")
    await go_on(beat, resources, clock)
    await note(resources, "one")
    await go_on(beat, resources, clock)
    views = await executions(resources)
    first, second = (output(view) for view in rounds(views))

    assert len(others(views)) == 1
    assert [each["why"] for each in first["held"]] == ["merged", "merged"]
    assert [each["why"] for each in second["held"]] == ["seen_to"]


async def test_people_see_a_round_like_any_other_execution(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    await note(resources, "one")
    await go_on(beat, resources, clock)
    application = SiliconApplication(resources)
    rows = await application.executions(organisation="desk", limit=10)
    row = next(each for each in rows if each.requested_by == "heartbeat/desk")
    tree = await application.show(row.execution_id)

    assert [step.id for step in tree.root.steps] == ["observe", "orient", "decide", "act", "evaluate"]


async def test_quiet_looks_fill_nothing(tmp_path: Path, clock: HandClock, resources: Resources) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    head = await (await resources.store()).ledger.head()
    await go_on(beat, resources, clock, 60)

    assert await (await resources.store()).ledger.head() == head
    (cursor,) = await (await resources.store()).ledger.cursors("heartbeat/desk")
    assert cursor.data is not None and cursor.data["quiet"] == 61


async def test_looks_of_an_organisation_whose_name_only_begins_alike_are_not_counted(
    tmp_path: Path, resources: Resources
) -> None:
    folder = make_desk(tmp_path / "desk")
    other = Cursor("heartbeat/desk-two", 0, None, {"quiet": 7, "at": "2026-03-01T09:00:00+00:00"})
    await (await resources.store()).ledger.append(cursors=[other])

    standing = await SiliconApplication(resources).heartbeat(folder)

    assert (standing.quiet, standing.looked_at) == (0, None)


async def test_a_beat_that_is_off_notices_and_does_nothing(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    notes = LISTENS.format(skill="tell", advances="order")
    beat = Beat(resources, make_desk(tmp_path / "desk", "heartbeat: false\n", notes=notes))
    await beat.go()
    await note(resources, "one")
    await go_on(beat, resources, clock)

    assert await executions(resources) == []
    assert len(await (await resources.store()).ledger.read("sensor/desk/notes")) == 1


async def test_servers_that_take_turns_begin_nothing_twice_and_lose_nothing(tmp_path: Path, clock: HandClock) -> None:
    desk = make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order"))
    async with served(tmp_path / "home", clock) as one, served(tmp_path / "home", clock) as two:
        servers = [(Beat(one, desk, holder="one"), one), (Beat(two, desk, holder="two"), two)]
        await servers[0][0].go()
        for number in range(6):
            await note(one, f"n{number}")
            for beat, resources in (servers[number % 2], servers[(number + 1) % 2]):
                clock.advance(61)
                await beat.go()
                if number % 3 == 2:  # rounds pile up in between
                    await work_off(resources)
        for _ in range(4):
            await go_on(servers[0][0], one, clock)
        goals = [view.request.goal for view in others(await executions(one))]

    assert sorted(goals) == [f"Look at note/n{number}" for number in range(6)]


async def test_what_there_is_no_room_for_waits_and_is_begun_later(tmp_path: Path, clock: HandClock) -> None:
    desk = make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order"))
    async with served(tmp_path / "home", clock, **{"attention.at_once": 2}) as resources:
        beat = Beat(resources, desk)
        await beat.go()
        for number in range(5):
            await note(resources, f"n{number}")
        await go_on(beat, resources, clock, 8)
        views = await executions(resources)

    made = [output(view) for view in rounds(views)]
    assert [(len(each["begun"]), len(each["waiting"])) for each in made] == [(2, 3), (2, 1), (1, 0)]
    assert made[0]["left_out"][0]["why"] == "no_room"
    assert len(others(views)) == 5


async def test_a_round_that_fails_is_told_and_its_signals_come_again(
    tmp_path: Path, clock: HandClock, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    await note(resources, "one")

    async def fails(*_: object) -> None:
        raise BusinessRefusal("It does not work today.")

    with monkeypatch.context() as patched:
        patched.setattr("agents.cognition.heartbeat.phases.Decide.do", fails)
        await go_on(beat, resources, clock, 5)
        assert len(rounds(await executions(resources))) == 1
    await go_on(beat, resources, clock, 12)

    views = await executions(resources)
    assert [view.report.state for view in rounds(views) if view.report] == [OrderState.FAILED, OrderState.DONE]
    assert [view.request.goal for view in others(views)] == ["Look at note/one"]


async def test_what_was_noticed_long_ago_is_not_acted_on(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    beat = Beat(resources, make_desk(tmp_path / "desk", notes=LISTENS.format(skill="tell", advances="order")))
    await beat.go()
    await note(resources, "one")
    await beat.go()
    clock.advance(3 * 86_400)
    await go_on(beat, resources, clock, 3)

    (one,) = rounds(await executions(resources))
    assert [each["why"] for each in output(one)["held"]] == ["stale"]


async def test_nobody_but_a_round_may_call_its_phases(tmp_path: Path, resources: Resources) -> None:
    desk = make_desk(tmp_path / "desk")
    organisations = await resources.organisations()
    _, pinned = await organisations.current(desk)
    executor = await resources.executor()
    for name in SPECS:
        plan = PlanDefinition(steps=(Step(id="do", use=name, arguments=_arguments(name)),))
        request = ExecutionRequest(organisation="desk", goal="Beat", plan=plan, requested_by="ana")
        submitted = await executor.submit(request, sha256(pinned), desk, [pinned])
        report = await executor.run(submitted.execution_id)
        assert report.state is OrderState.FAILED and report.error is not None
        assert report.error.code == "ACCESS_DENIED"


def _arguments(name: str) -> dict[str, Any]:
    types = {"integer": 1, "array": []}
    return {each: types[parameter.type.value] for each, parameter in SPECS[name].parameters.items()}
