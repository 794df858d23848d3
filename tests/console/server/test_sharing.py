"""Servers that share one database and one Redis: killed, cut off, paused past their lease."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.server.office import Site, Up, Work, make_office
from tests.servers import MariaDb, Redis

pytestmark = pytest.mark.xdist_group("servers")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MariaDb, Redis]]:
    """A database and a Redis that these tests may kill."""
    folder = tmp_path_factory.mktemp("servers")
    with MariaDb(folder, durable=False) as database, Redis(folder) as redis:
        yield database, redis


@pytest.fixture
def site(tmp_path: Path, work: Work, servers: tuple[MariaDb, Redis]) -> Iterator[Site]:
    """An office whose ledger is on the database server."""
    database, redis = servers
    with database.database() as url:
        settings = {"SILICON_LEDGER__URL": url, "SILICON_BUS__URL": redis.url, "SILICON_SLOT__COUNT": "8"}
        yield Site(tmp_path, work, make_office(tmp_path / "office", work, steps=3), settings)


def test_of_two_that_share_the_work_one_is_killed_and_everything_ends(site: Site) -> None:
    site.work.held = {"s2"}
    half = {"SILICON_EXECUTOR__AT_ONCE": "3"}
    other = str(site.folder / "other")
    with site.up(str(site.office), **half) as one, site.up(str(site.office), SILICON_HOME=other, **half) as two:
        executions = [site.submit(one) for _ in range(8)]
        site.work.wait_for("s2", times=6)
        one.kill()
        site.work.release()
        events = [site.follow(two, execution) for execution in executions]

    assert site.work.calls == Counter(s1=8, s2=8 + 3, s3=8)  # what was in flight in the killed one was read again
    holders = {event["data"]["holder"].split("/")[2] for each in events for event in each if "holder" in event["data"]}
    assert holders == {str(one.pid), str(two.pid)}
    assert_whole(site, events)


def test_a_database_that_is_killed_and_comes_back_leaves_nothing_pending(
    site: Site, servers: tuple[MariaDb, Redis]
) -> None:
    database, redis = servers
    site.work.held = {"s2"}
    with site.up(str(site.office), SILICON_EXECUTOR__LEASE_S="3", SILICON_EXECUTOR__RENEW_S="0.5") as up:
        executions = [site.submit(up) for _ in range(2)]
        site.work.wait_for("s2", times=2)
        database.kill()
        redis.kill()
        site.work.release()
        redis.start()
        database.start()
        events = [site.follow(up, execution) for execution in executions]
        up.stop()

    assert (site.work.calls["s1"], site.work.calls["s3"]) == (2, 2)
    assert 2 <= site.work.calls["s2"] <= 4
    assert_whole(site, events)


def test_a_rolling_restart_with_overlap_does_every_step_once(site: Site) -> None:
    site.work.held = {"s2"}
    other = str(site.folder / "other")
    with site.up(str(site.office)) as old, site.up(str(site.office), SILICON_HOME=other) as new:
        executions = [site.submit(old) for _ in range(2)]
        site.work.wait_for("s2", times=2)
        old.begin_to_stop()
        executions += [site.submit(new) for _ in range(2)]
        site.work.wait_for("s2", times=4)
        site.work.release()
        events = [site.follow(new, execution) for execution in executions]
        old.process.wait(timeout=60)

    assert old.process.returncode == 0
    assert site.work.calls == Counter(s1=4, s2=4, s3=4)
    assert_whole(site, events)


def test_the_late_result_of_a_server_that_was_paused_past_its_lease_is_refused(site: Site) -> None:
    site.work.held = {"s2"}
    short = {"SILICON_EXECUTOR__LEASE_S": "3", "SILICON_EXECUTOR__RENEW_S": "0.5", "SILICON_SLOT__LEASE_S": "3"}
    other_home = str(site.folder / "other")
    with (
        site.up(str(site.office), **short) as paused,
        site.up(str(site.office), SILICON_HOME=other_home, **short) as other,
    ):
        execution = site.submit(paused)
        site.work.wait_for("s2")
        holder = pause_the_holder(site, execution, paused, other)
        awake = other if holder is paused else paused
        site.work.wait_for("s2", times=2)
        site.work.release()
        events = site.follow(awake, execution)
        holder.process.send_signal(signal.SIGCONT)
        again = site.submit(holder)
        site.follow(holder, again)
        whole = list(site.events(awake, execution))
        paused.stop()
        other.stop()

    assert [event["position"] for event in whole] == [event["position"] for event in events]
    assert site.work.calls == Counter(s1=2, s2=3, s3=2)
    assert_whole(site, [events])


def pause_the_holder(site: Site, execution: str, *servers: Up) -> Up:
    """Stop (SIGSTOP) the server that works on the execution, and return it."""
    (first,) = [event for event in site.follow(servers[0], execution, "execution.started") if "holder" in event["data"]]
    (holder,) = [up for up in servers if f"/{up.pid}/" in first["data"]["holder"]]
    holder.process.send_signal(signal.SIGSTOP)
    return holder


def assert_whole(site: Site, executions: list[list[dict[str, object]]]) -> None:
    """Every step finished once in its order, and the ledger is as it was written."""
    for events in executions:
        finished = [(e["subject"], e["data"]["step"]) for e in events if e["type"] == "step.finished"]  # type: ignore[index]
        assert len(finished) == len(set(finished)) == 6, finished
        assert events[-1]["type"] == "execution.finished"
    assert site.run("audit", "verify")["faults"] == []
