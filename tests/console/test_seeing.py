"""What the command line shows to a system user whose entry holds roles in departments only."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from console.application import SiliconApplication
from console.resources import Resources
from console.starter.make import make
from console.views import RunOptions
from contracts import ExecutionId
from runtime.errors import NotFound
from runtime.settings.load import Settings
from tests.console.desks import TWO_DESKS, make_organisation
from tests.stores import lay_empty_ledger

pytestmark = pytest.mark.anyio


async def waiting(home: Path, folder: Path) -> ExecutionId:
    """Leave an execution behind that waits for an answer."""
    lay_empty_ledger(home)
    resources = Resources(Settings(home=home))
    application = SiliconApplication(resources)
    try:
        options = RunOptions(goal="Choose a day", by="planner")
        return (await application.run(folder, options, watch=lambda event: None)).execution_id
    finally:
        await resources.close()


@pytest.mark.parametrize(("login", "seen"), [("day-viewer", True), ("night-lead", False), ("nobody", True)])
async def test_a_system_user_sees_the_departments_of_their_entry_and_without_one_everything(
    tmp_path: Path, login: str, seen: bool
) -> None:
    folder = make_organisation(tmp_path / "desk")
    written = TWO_DESKS.replace(", login: any", "").replace(f"id: {login}, ", f"id: {login}, login: vera, ")
    (folder / "org.yaml").write_text(written)
    execution_id = await waiting(tmp_path / "home", folder)
    resources = Resources(Settings(home=tmp_path / "home"), onlooker="vera")
    looking = SiliconApplication(resources)
    try:
        assert bool(await looking.executions(organisation=None, limit=5)) is seen
        assert bool(await looking.questions()) is seen
        assert bool([each async for each in looking.events(None, after=0, follow=False)]) is seen
        with nullcontext() if seen else pytest.raises(NotFound):
            await looking.show(execution_id)
        with nullcontext() if seen else pytest.raises(NotFound):
            await looking.costs(by="agent", organisation=None, since=None, until=None, execution_id=execution_id)
    finally:
        await resources.close()


@pytest.mark.parametrize(("login", "told"), [("planner", False), ("nobody", True)])
async def test_whoever_has_an_entry_is_not_told_what_others_said_about_themselves(
    tmp_path: Path, login: str, *, told: bool
) -> None:
    folder = make_organisation(tmp_path / "desk")
    org = (folder / "org.yaml").read_text()
    (folder / "org.yaml").write_text(
        org.replace(", login: any", "").replace(f"id: {login}, ", f"id: {login}, login: vera, ")
    )
    await waiting(tmp_path / "home", folder)
    resources = Resources(Settings(home=tmp_path / "home"), onlooker="vera")
    looking = SiliconApplication(resources)
    try:
        await looking.write_memory(folder, "I like tables.", by="clerk")
        await looking.set_profile(folder, "format", "table", by="clerk")
        seen = {event.type async for event in looking.events(None, after=0, follow=False)}
    finally:
        await resources.close()
    assert "execution.requested" in seen
    assert bool({"memory.written", "profile.set"} & seen) is told


async def test_lists_of_sensors_metrics_and_alerts_are_bounded_as_well(tmp_path: Path) -> None:
    lay_empty_ledger(tmp_path / "home")
    folder = tmp_path / "bakery"
    make(folder)
    org = folder / "org.yaml"
    org.write_text(
        org.read_text().replace("roles: [operator], login: any", "departments: {cashier: operator}, login: vera")
    )
    told = {}
    for user in ("vera", "nobody"):
        resources = Resources(Settings(home=tmp_path / "home"), onlooker=user)
        looking = SiliconApplication(resources)
        try:
            told[user] = [bool(await looking.metrics(folder)), bool((await looking.alerts(folder)).alerts)]
            with nullcontext() if user == "nobody" else pytest.raises(NotFound, match="no metric"):
                await looking.metric(folder, "revenue")
            with nullcontext() if user == "nobody" else pytest.raises(NotFound, match="no metric"):
                await looking.require_metric(folder, "revenue")
            with nullcontext() if user == "nobody" else pytest.raises(NotFound, match="no metric"):
                await looking.metric_versions(folder, "revenue")
        finally:
            await resources.close()
    assert told["nobody"][0]
    assert not any(told["vera"])
