"""The evidence of a real organisation's work, shown and proven from the ledger alone."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from console.application import open_application
from console.cli.main import main
from console.ports import Application
from console.views import ExecutionOutcome, RunOptions
from contracts import ExecutionId, OrderId, OrderState
from runtime.errors import NotFound
from runtime.settings.load import load
from tests.fakes.archive_office import GOAL, make_office

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def home(folder: Path) -> AsyncIterator[Application]:
    async with open_application(load({"home": str(folder)}, working=folder.parent)) as application:
        yield application


async def noted(application: Application, office: Path, number: int = 7) -> ExecutionOutcome:
    options = RunOptions(GOAL, skill="note", given={"number": str(number)})
    outcome = await application.run(office, options, watch=lambda event: None)
    assert outcome.state is OrderState.DONE, outcome.error
    return outcome


async def clerks_order(application: Application, execution_id: ExecutionId) -> OrderId:
    return list(await application.orders_of(execution_id))[-1]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    return make_office(tmp_path / "office")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Application]:
    async with home(tmp_path / "here") as application:
        yield application


async def test_everything_a_step_did_and_left_is_told_without_its_slot(here: Application, office: Path) -> None:
    outcome = await noted(here, office)
    found = await here.evidence(await clerks_order(here, outcome.execution_id))

    told = [
        (each.item.step, each.item.kind.value, each.item.facts.get("name"), each.kept.value) for each in found.items
    ]
    assert told == [
        ("page", "call", None, "ledger"),
        ("page", "file", "page.html", "stored"),
        ("add", "call", None, "ledger"),
        ("add", "call", None, "hash"),
        ("add", "file", "workspace/笔记.txt", "stored"),
    ]
    assert (found.seal.value, found.faults) == ("sealed", ())
    assert (await here.evidence_item(found.order.order_id, 5)).data == b"7\n"
    assert (await here.evidence_item(found.order.order_id, 2)).media_type == "text/html"
    with pytest.raises(NotFound, match="only the hash"):
        await here.evidence_item(found.order.order_id, 4)


async def test_a_workspace_goes_from_execution_to_execution(here: Application, office: Path) -> None:
    outcomes = [await noted(here, office, number) for number in (7, 5, 30)]

    assert [outcome.output for outcome in outcomes] == [{"total": 7}, {"total": 12}, {"total": 42}]


async def test_an_export_carries_the_bytes_of_all_evidence(tmp_path: Path, here: Application, office: Path) -> None:
    outcome = await noted(here, office)
    await here.export_execution(outcome.execution_id, tmp_path / "run.jsonl.gz")
    async with home(tmp_path / "elsewhere") as elsewhere:
        await elsewhere.import_execution(tmp_path / "run.jsonl.gz")
        order = await clerks_order(elsewhere, outcome.execution_id)
        assert (await elsewhere.evidence(order)).faults == ()
        assert (await elsewhere.evidence_item(order, 5)).data == b"7\n"


async def test_the_head_that_had_no_slot_shows_what_the_ledger_tells(here: Application, office: Path) -> None:
    outcome = await noted(here, office)
    (head, _) = await here.orders_of(outcome.execution_id)

    found = await here.evidence(head)

    assert (found.seal.value, found.faults) == ("none", ())


@pytest.fixture
async def done(tmp_path: Path, office: Path, monkeypatch: pytest.MonkeyPatch) -> OrderId:
    """An order that is done, in the home of the command line."""
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")
    async with home(tmp_path / "home") as application:
        outcome = await noted(application, office)
        order = await clerks_order(application, outcome.execution_id)
    shutil.rmtree(tmp_path / "home" / "slots", ignore_errors=True)
    return order


async def in_thread(*arguments: str) -> int:
    return await asyncio.to_thread(main, arguments)


async def test_the_command_line_shows_and_proves_it(done: OrderId, capsys: pytest.CaptureFixture[str]) -> None:
    assert await in_thread("show", done, "--evidence") == 0
    shown = capsys.readouterr().out
    assert "5 items, sealed" in shown
    assert "file · workspace/笔记.txt · 2\N{NO-BREAK SPACE}B" in shown
    assert await in_thread("show", done.ulid, "--evidence", "--json") == 0
    (data,) = json.loads(capsys.readouterr().out)
    assert [item["bytes"] for item in data["items"]] == ["ledger", "stored", "ledger", "hash", "stored"]
    assert await in_thread("evidence", "verify", done) == 0
    assert await in_thread("evidence", "verify", "--all") == 0
    assert "All evidence is as it was: 2 orders" in capsys.readouterr().out
    assert await in_thread("evidence", "verify") == 2


async def test_bare_letters_mean_the_execution_and_not_its_first_order(
    tmp_path: Path, done: OrderId, capsys: pytest.CaptureFixture[str]
) -> None:
    async with home(tmp_path / "home") as application:
        execution_id = await application.execution_of(done)
        (head, clerk) = await application.orders_of(execution_id)
    assert head.ulid == execution_id.ulid

    assert await in_thread("evidence", "verify", execution_id.ulid) == 0
    assert "2 orders, 5 items" in capsys.readouterr().out
    assert await in_thread("show", execution_id.ulid, "--evidence", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert await in_thread("evidence", "verify", clerk.ulid) == 0
    assert "1 order, 5 items" in capsys.readouterr().out


async def test_no_evidence_is_not_told_as_a_proof(
    tmp_path: Path, done: OrderId, capsys: pytest.CaptureFixture[str]
) -> None:
    async with home(tmp_path / "home") as application:
        head = (await application.orders_of(await application.execution_of(done)))[0]

    assert await in_thread("evidence", "verify", head) == 0
    shown = capsys.readouterr().out
    assert "Nothing was proven: 1 order left no item of evidence." in shown
    assert "✓" not in shown


async def test_what_may_be_named_is_told_where_nothing_is_called_that(
    done: OrderId, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await in_thread("evidence", "verify", "nope") == 2
    assert "Neither an execution nor an order is called 'nope'." in capsys.readouterr().err


OF_NOTES = "sha256 IN (SELECT sha256 FROM blobs WHERE size = 2)"
BREAK: dict[str, tuple[str, ...]] = {
    "missing": (f"DELETE FROM blob_parts WHERE {OF_NOTES}", "DELETE FROM blobs WHERE size = 2"),
    "were changed": (f"UPDATE blob_parts SET data = x'39' WHERE {OF_NOTES}",),
    "part of them is gone": (f"DELETE FROM blob_parts WHERE {OF_NOTES}",),
    "are not those": ("UPDATE events SET data = replace(data, '\"size\":2', '\"size\":3')",),
}


@pytest.mark.parametrize("said", BREAK)
async def test_what_was_altered_is_named(
    tmp_path: Path, done: OrderId, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    with sqlite3.connect(tmp_path / "home" / "silicon.db") as database:
        assert all(database.execute(statement).rowcount for statement in BREAK[said])

    assert await in_thread("evidence", "verify", done, "--json") == 1
    data: Any = json.loads(capsys.readouterr().out)
    assert not data["clean"]
    assert any(said in fault for fault in data["orders"][0]["faults"]), data["orders"][0]["faults"]
