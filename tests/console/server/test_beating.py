"""Servers that watch: killed at any moment, one or several on one database, each event is acted on once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.server.office import PATIENCE_S, Site, Up, Work, make_office
from tests.stores import empty_server_database

pytestmark = pytest.mark.xdist_group("servers")
LISTENS = """\
on: execution.finished
when: data.report.state == 'done'
severity: high
raises: {skill: follow, goal: "Follow {{ subject }} up", advances: pile}
"""
FAST = {
    "SILICON_SENSOR__LOOK_S": "0.1",
    "SILICON_HEARTBEAT__EVERY_S": "0.3",
    "SILICON_EXECUTOR__LEASE_S": "3",
    "SILICON_EXECUTOR__RENEW_S": "1",
}


def watching(office: Path) -> Path:
    """Let the office follow up what ended well, by somebody who had no part in it."""
    org = (office / "org.yaml").read_text()
    runner = "{id: runner, title: Runner, can: [desk.work]}"
    follower = f"    - {{id: follower, title: Follower, skills: [follow], manages: [{runner}]}}\n"
    (office / "org.yaml").write_text(f"goals: {{pile: The pile gets smaller}}\n{org}{follower}")
    (office / "skills" / "follow").mkdir()
    plan = '{"steps": [{"id": "do", "by": "runner", "use": "desk.work", "with": {"step": "follow"}}]}'
    (office / "skills" / "follow" / "plan.yaml").write_text(plan)
    header = (
        "---\nname: follow\ndescription: Follows up.\nmetadata: {when_to_use: To follow up., words: [follow]}\n---\n"
    )
    (office / "skills" / "follow" / "SKILL.md").write_text(header)
    (office / "sensors").mkdir()
    (office / "sensors" / "ended.yaml").write_text(LISTENS)
    return office


@pytest.fixture
def watched(tmp_path: Path, work: Work) -> Site:
    return Site(tmp_path, work, watching(make_office(tmp_path / "office", work, steps=1)), settings=dict(FAST))


def listed(site: Site, up: Up) -> list[dict[str, Any]]:
    return list(site.ask(up, "GET", "/executions?limit=200")["executions"])


def until_followed(site: Site, up: Up, count: int) -> list[str]:
    """Return the goals of what the sensor asked for, once that many are done and nothing is under way."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = listed(site, up)
        mine = [each for each in found if each["requested_by"] == "sensor/ended"]
        if len(mine) >= count and all(each["state"] == "done" for each in found):
            return [each["goal"] for each in mine]
        time.sleep(0.1)  # what is waited for happens in another process
    raise AssertionError(f"not all was followed up: {listed(site, up)}")


def ready(site: Site, up: Up) -> None:
    """Return once the server watches."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        beat = site.ask(up, "GET", "/heartbeat?organisation=office")
        if beat["watched_by"] is not None and beat["looked_at"] is not None:
            return
        time.sleep(0.05)
    raise AssertionError("nobody watches")


def test_killed_again_and_again_a_server_follows_each_end_up_once(watched: Site) -> None:
    with watched.up(str(watched.office)) as up:
        ready(watched, up)
    asked = []
    for wait_s in (0.0, 0.15, 0.3, 0.6, 0.9):
        with watched.up(str(watched.office)) as up:
            execution = watched.submit(up)
            asked.append(execution)
            watched.follow(up, execution)
            time.sleep(wait_s)  # somewhere between hearing, the round and its acts
            up.kill()
    with watched.up(str(watched.office)) as up:
        goals = until_followed(watched, up, len(asked))
        up.stop()

    assert Counter(goals) == Counter(f"Follow execution/{each} up" for each in asked)
    assert watched.run("audit", "verify")["faults"] == []


@pytest.fixture(params=["mysql", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from empty_server_database(request.param)


def test_of_two_servers_one_watches_and_the_other_takes_over_when_it_is_killed(watched: Site, database: str) -> None:
    watched.settings["SILICON_LEDGER__URL"] = database
    folder = str(watched.office)
    with watched.up(folder) as one:
        ready(watched, one)
        with watched.up(folder) as two:
            asked = [watched.submit(one) for _ in range(3)]
            for execution in asked:
                watched.follow(two, execution)
            beat = watched.ask(two, "GET", "/heartbeat?organisation=office")
            assert beat["watched_by"].split("/")[2] == str(one.pid)
            one.kill()
            asked.append(watched.submit(two))
            goals = until_followed(watched, two, len(asked))
            taken = watched.ask(two, "GET", "/heartbeat?organisation=office")["watched_by"]
            two.stop()

    assert taken.split("/")[2] == str(two.pid)
    assert Counter(goals) == Counter(f"Follow execution/{each} up" for each in asked)
