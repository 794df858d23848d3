"""A real organisation's work, exported, imported, held, pruned, backed up and restored through the application."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.application import open_application
from console.ports import Application
from console.starter.make import GOAL, make
from console.views import ExecutionTree, OrderNode, RunOptions
from contracts import CardId, Event, ExecutionId, OrderState
from governance.access.people import NobodyActs
from governance.errors import CardClosed
from runtime.errors import InvalidArguments, NotFound
from runtime.executor import ExecutionImported, KeyInUse
from runtime.keeping.errors import AlreadyHere, ArchiveRefused, HoldRefused, TargetInUse
from runtime.keeping.owned import KEPT, OWN, is_own
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.runtime.keeping.test_archive import forge

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW)


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    make(tmp_path / "bakery")
    return tmp_path / "bakery"


@asynccontextmanager
async def home(folder: Path, clock: HandClock) -> AsyncIterator[Application]:
    async with open_application(load({"home": str(folder)}, working=folder.parent), clock) as application:
        yield application


@pytest.fixture
async def here(tmp_path: Path, clock: HandClock) -> AsyncIterator[Application]:
    async with home(tmp_path / "here", clock) as application:
        yield application


@pytest.fixture
async def elsewhere(tmp_path: Path, clock: HandClock) -> AsyncIterator[Application]:
    async with home(tmp_path / "elsewhere", clock) as application:
        yield application


async def waiting(application: Application, bakery: Path) -> tuple[ExecutionId, CardId]:
    """Return an execution that waits for its card."""
    outcome = await application.run(bakery, RunOptions(GOAL), watch=ignore)
    assert outcome.state is OrderState.WAITING
    return outcome.execution_id, outcome.cards[0].card.card_id


async def done(application: Application, bakery: Path) -> ExecutionId:
    """Return an execution that is done."""
    execution_id, card = await waiting(application, bakery)
    await application.decide(card, option="nothing", reason="", by="owner")
    assert (await application.resume(execution_id, watch=ignore)).state is OrderState.DONE
    return execution_id


def steps(shown: ExecutionTree) -> list[tuple[str, str, object]]:
    """Return every step of an execution with its state and what it gave."""
    return list(_steps(shown.root)) if shown.root else []


def _steps(order: OrderNode) -> Iterator[tuple[str, str, object]]:
    for step in order.steps:
        yield step.id, step.state.value, step.output
        for below in step.orders:
            yield from _steps(below)


async def test_an_execution_that_waits_is_shown_elsewhere_and_decided_only_here(
    here: Application, elsewhere: Application, bakery: Path, tmp_path: Path
) -> None:
    execution_id, card = await waiting(here, bakery)
    await here.export_execution(execution_id, tmp_path / "run.jsonl.gz")
    shutil.move(bakery, tmp_path / "gone")  # the other machine has no such folder

    await elsewhere.import_execution(tmp_path / "run.jsonl.gz")

    before, after = await here.show(execution_id), await elsewhere.show(execution_id)
    assert steps(after) == steps(before) and steps(after)
    assert (after.outcome.imported, after.outcome.state, before.outcome.imported) == (True, OrderState.WAITING, False)
    assert after.outcome.products[0].path is not None
    assert await elsewhere.cards(all_=False) == () or not await elsewhere.cards(all_=False)
    assert await elsewhere.questions() == []
    with pytest.raises(CardClosed, match="was withdrawn: imported"):
        await elsewhere.decide(card, option="nothing", reason="", by="owner")
    for go_on in (elsewhere.resume(execution_id, watch=ignore), elsewhere.cancel(execution_id, by="owner")):
        with pytest.raises(ExecutionImported):
            await go_on
    (row,) = await elsewhere.executions(organisation=None, limit=9)
    assert (row.imported, row.state, row.held) == (True, OrderState.WAITING, False)
    assert (await elsewhere.verify()).faults == ()
    shutil.move(tmp_path / "gone", bakery)
    await here.decide(card, option="nothing", reason="", by="owner")
    assert (await here.resume(execution_id, watch=ignore)).state is OrderState.DONE


async def test_an_execution_that_is_done_is_shown_elsewhere_as_it_ended(
    here: Application, elsewhere: Application, bakery: Path, tmp_path: Path
) -> None:
    execution_id = await done(here, bakery)
    await here.export_execution(execution_id, tmp_path / "run.jsonl.gz")

    await elsewhere.import_execution(tmp_path / "run.jsonl.gz")

    before, after = await here.show(execution_id), await elsewhere.show(execution_id)
    assert steps(after) == steps(before)
    assert after.outcome.state is OrderState.DONE and after.outcome.output == before.outcome.output
    assert [each.outcome for each in after.outcome.decided] == [each.outcome for each in before.outcome.decided]
    assert (await elsewhere.resume(execution_id, watch=ignore)).state is OrderState.DONE  # shown as it is
    with pytest.raises(AlreadyHere):
        await elsewhere.import_execution(tmp_path / "run.jsonl.gz")


async def test_a_card_that_speaks_for_another_execution_is_refused(
    here: Application, elsewhere: Application, bakery: Path, tmp_path: Path
) -> None:
    execution_id, _ = await waiting(here, bakery)
    file = tmp_path / "run.jsonl.gz"
    await here.export_execution(execution_id, file)
    lines = gzip.decompress(file.read_bytes()).splitlines()
    (number,) = [number for number, line in enumerate(lines) if json.loads(line).get("type") == "card.raised"]

    def speaks_for_another(changed: list[dict[str, str]]) -> None:
        changed[number]["payload"] = changed[number]["payload"].replace(execution_id, ExecutionId.new())

    forge(file, speaks_for_another)

    with pytest.raises(ArchiveRefused, match="it speaks for another execution"):
        await elsewhere.import_execution(file)
    with pytest.raises(NotFound):
        await elsewhere.show(execution_id)


async def test_a_hold_takes_a_person_who_may_and_a_reason(here: Application, bakery: Path, clock: HandClock) -> None:
    execution_id = await done(here, bakery)
    with pytest.raises(NobodyActs):
        await here.hold(execution_id, reason="case 7", by="nobody")
    with pytest.raises(InvalidArguments, match="The reason takes"):
        await here.hold(execution_id, reason=" ", by="owner")
    with pytest.raises(NotFound):
        await here.hold(ExecutionId.new(), reason="case 7", by="owner")
    with pytest.raises(HoldRefused, match="under no hold"):
        await here.release(execution_id, reason="settled", by="owner")

    await here.hold(execution_id, reason="case 7", by="owner")

    with pytest.raises(HoldRefused, match="placed by owner: case 7"):
        await here.hold(execution_id, reason="case 8", by="owner")
    clock.advance(400 * 86_400)
    assert (await here.prune(days=30, dry=False, compact=False)).held == (execution_id,)
    await here.release(execution_id, reason="settled", by="owner")
    assert await here.holds() == []
    assert (await here.prune(days=30, dry=False, compact=True)).executions == (execution_id,)
    assert await here.executions(organisation=None, limit=9) == []
    assert (await here.pruned_ids(ExecutionId), await here.ids(ExecutionId)) == ([execution_id], [])
    audit = await here.verify()
    assert audit.faults == () and 0 < audit.pruned < audit.events


@pytest.mark.parametrize("days", [-1.0, 36_526.0, 1e9, float("inf"), float("nan")])
async def test_days_that_no_calendar_holds_are_refused(tmp_path: Path, days: float) -> None:
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as here:
        with pytest.raises(InvalidArguments, match="0 to 36,525 days"):
            await here.prune(days=days, dry=False, compact=False)
        assert (await here.prune(days=36_525, dry=False, compact=False)).events == 0


async def test_a_key_stays_used_after_its_execution_was_pruned(
    here: Application, bakery: Path, clock: HandClock
) -> None:
    options = RunOptions(GOAL, key="monday")
    outcome = await here.run(bakery, options, watch=ignore)
    await here.cancel(outcome.execution_id, by="owner")
    clock.advance(400 * 86_400)
    assert (await here.prune(days=30, dry=False, compact=False)).executions == (outcome.execution_id,)

    with pytest.raises(KeyInUse, match="was pruned") as refused:
        await here.run(bakery, options, watch=ignore)
    assert refused.value.facts["key"] == "monday"


async def test_everything_comes_back_from_a_backup(
    here: Application, bakery: Path, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, card = await waiting(here, bakery)
    before = await here.show(execution_id)
    made = await here.back_up(tmp_path / "backup.db")
    with pytest.raises(TargetInUse):
        await here.restore(tmp_path / "backup.db")

    async with AsyncExitStack() as stack:
        new = await stack.enter_async_context(home(tmp_path / "new", clock))
        assert (await new.restore(tmp_path / "backup.db")).position == made.position

        assert steps(await new.show(execution_id)) == steps(before)
        await new.decide(card, option="nothing", reason="", by="owner")
        assert (await new.resume(execution_id, watch=ignore)).state is OrderState.DONE
        assert (await new.verify()).faults == ()


async def test_a_ledger_that_is_not_there_is_not_made_by_backing_it_up(here: Application, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no ledger to back up"):
        await here.back_up(tmp_path / "backup.db")
    assert not (tmp_path / "here" / "silicon.db").exists()


async def test_of_every_stream_of_an_execution_it_is_decided_whether_it_goes(here: Application, bakery: Path) -> None:
    outcome = await here.run(bakery, RunOptions(GOAL, key="monday"), watch=ignore)
    found = {event.subject async for event in here.events(outcome.execution_id, after=0, follow=False)}

    assert {stream.partition("/")[0] for stream in found} == {"execution", "order", "evidence", "card", "request"}
    assert {stream.partition("/")[0] for stream in found} <= OWN | KEPT and not OWN & KEPT
    assert all(is_own(stream, outcome.execution_id) == (stream.partition("/")[0] in OWN) for stream in found)
