"""A goal is recorded without being run; whoever claims it first runs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.workforce.errors import RayUnavailable
from cluster.errors import SandboxBroken
from cluster.sandbox import bubblewrap
from console.application import open_application
from console.executions import open_executions
from console.parameters import checked_values
from console.ports import Application
from console.starter.make import GOAL, make
from console.views import RunOptions
from console.views_system import Health
from contracts import Event, Json, OrderState, Parameter, ValueType
from runtime.errors import InvalidArguments, SettingsError
from runtime.executor import KeyInUse
from runtime.settings.load import load

pytestmark = pytest.mark.anyio


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    make(tmp_path / "bakery")
    return tmp_path / "bakery"


@pytest.fixture
async def application(bakery: Path, tmp_path: Path) -> AsyncIterator[Application]:
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        yield application


async def test_what_is_submitted_is_stored_and_not_begun(application: Application, bakery: Path) -> None:
    submitted = await application.submit(bakery, RunOptions(GOAL))

    assert [event.type async for event in application.events(None, after=0, follow=False)] == ["execution.requested"]
    (row,) = await application.executions(organisation=None, limit=9)
    assert (row.execution_id, row.state, row.held) == (submitted.execution_id, OrderState.RUNNING, False)


async def test_nothing_is_taken_in_where_the_driver_that_is_asked_for_does_not_work(
    bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "why_not", lambda: "it is not installed")
    settings = load({"home": str(tmp_path / "home"), "slot.driver": "bubblewrap"}, working=tmp_path)
    async with open_executions(settings) as executions:
        with pytest.raises(SandboxBroken, match="it is not installed"):
            await executions.run(bakery, RunOptions(GOAL), watch=ignore)

        assert await executions.executions(organisation=None, limit=9) == []


@pytest.mark.parametrize("url", ["redix://localhost:6379/0", "redis://me:S3cr@et/PW@localhost"])
async def test_nothing_is_taken_in_with_a_bus_that_has_no_address(bakery: Path, tmp_path: Path, url: str) -> None:
    settings = load({"home": str(tmp_path / "home"), "bus.url": url}, working=tmp_path)
    async with open_application(settings) as application:
        with pytest.raises(SettingsError, match=r"The setting `bus\.url`"):
            await application.submit(bakery, RunOptions(GOAL))
        bus = next(each for each in await application.doctor(None) if each.name == "bus")

    assert bus.health is Health.BROKEN
    assert not any(part in bus.what for part in ("S3cr", "et/", "PW"))


async def test_nothing_is_recorded_for_a_ray_that_cannot_be_reached(
    bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'silicon-org[ray]'")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    settings = load({"home": str(tmp_path / "home"), "workforce.engine": "ray"}, working=tmp_path)
    async with open_application(settings) as application:
        with pytest.raises(RayUnavailable, match=r"The Ray at 127\.0\.0\.1:1 \(RAY_ADDRESS\) cannot be used"):
            await application.run(bakery, RunOptions(GOAL), watch=ignore)

        assert await application.executions(organisation=None, limit=9) == []


async def test_what_was_submitted_runs_when_somebody_takes_it_up(application: Application, bakery: Path) -> None:
    submitted = await application.submit(bakery, RunOptions(GOAL))

    assert (await application.resume(submitted.execution_id, watch=ignore)).state is OrderState.WAITING


async def test_of_many_that_ask_with_one_key_at_once_all_but_one_are_told_that_it_is_repeated(
    application: Application, bakery: Path
) -> None:
    all_ = await asyncio.gather(*(application.submit(bakery, RunOptions(GOAL, key="k")) for _ in range(5)))

    assert len({submitted.execution_id for submitted in all_}) == 1
    assert sorted(submitted.repeated for submitted in all_) == [False, True, True, True, True]


async def test_a_key_of_another_request_is_refused(application: Application, bakery: Path) -> None:
    await application.submit(bakery, RunOptions(GOAL, key="k"))

    with pytest.raises(KeyInUse):
        await application.submit(bakery, RunOptions(GOAL, key="k", language="zh"))


async def test_what_cannot_run_is_refused_and_nothing_is_recorded(application: Application, bakery: Path) -> None:
    with pytest.raises(InvalidArguments, match="who is not a parameter"):
        await application.submit(bakery, RunOptions(GOAL, values={"who": 1}))

    assert [event async for event in application.events(None, after=0, follow=False)] == []


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (ValueType.STRING, "a"),
        (ValueType.INTEGER, 7),
        (ValueType.NUMBER, 7.5),
        (ValueType.BOOLEAN, True),
        (ValueType.DATE, "2013-02-08"),
        (ValueType.ARRAY, ["EWR"]),
        (ValueType.MONEY, "5 USD"),
        (ValueType.ANY, {"a": [None]}),
    ],
)
def test_a_value_that_fits_its_declaration_is_taken_as_it_is(type_: ValueType, value: Json) -> None:
    assert checked_values({"x": value}, {"x": Parameter(type=type_)}) == {"x": value}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (ValueType.STRING, 7),
        (ValueType.INTEGER, "7"),
        (ValueType.BOOLEAN, "yes"),
        (ValueType.DATE, "8 Feb"),
        (ValueType.ARRAY, {}),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_name(type_: ValueType, value: Json) -> None:
    with pytest.raises(InvalidArguments, match="x"):
        checked_values({"x": value, "y": 1}, {"x": Parameter(type=type_), "y": Parameter(type=ValueType.ANY)})
