"""Sensors and heartbeats over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.api.conftest import Served, make_organisation

pytestmark = pytest.mark.anyio
CRON = 'cron: "30 2 * * *"\nraises: {skill: choose-day, goal: "Choose {{ date }}", advances: nothing}\n'


async def test_sensors_tell_when_they_are_due(served: Served) -> None:
    (served.folder / "sensors").mkdir(exist_ok=True)
    (served.folder / "sensors" / "nightly.yaml").write_text(CRON)
    async with served.client() as client:
        (sensor,) = (await client.get("/sensors", params={"organisation": "desk"})).json()["sensors"]

    assert (sensor["name"], sensor["kind"], sensor["skill"]) == ("nightly", "cron", "choose-day")
    assert sensor["watches"].startswith("30 2 * * * ")
    assert sensor["next_due"] is not None and sensor["last_run"] is None and sensor["last_failure"] is None


async def test_a_heartbeat_tells_how_much_work_advances_goals(served: Served) -> None:
    async with served.client() as client:
        beat = (await client.get("/heartbeat", params={"organisation": "desk"})).json()

    assert (beat["organisation"], beat["on"], beat["watched_by"], beat["last_round"]) == ("desk", True, None, None)
    assert (beat["work"]["goal"], beat["work"]["meta"], beat["meta_most"]) == (1, 0, 10)


@pytest.mark.parametrize("path", ["/sensors", "/heartbeat"])
async def test_nobody_of_another_organisation_sees_them(served: Served, tmp_path: Path, path: str) -> None:
    elsewhere = make_organisation(tmp_path / "elsewhere")
    async with served.client(await served.token("planner", elsewhere)) as client:
        assert (await client.get(path, params={"organisation": "desk"})).status_code == 404
