"""`silicon up` as its operators, its callers and the commands beside it see it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.console.server.office import Site, Up, Work, make_office

pytestmark = pytest.mark.xdist_group("servers")
ALL = Counter(s1=1, s2=1, s3=1, s4=1)
GOAL = "Work through the pile"


def test_a_goal_is_handed_over_followed_to_its_end_and_nothing_is_left_behind(site: Site) -> None:
    with site.up(str(site.office)) as up:
        execution = site.submit(up)
        types = [event["type"] for event in site.follow(up, execution)]
        said = up.stop()

    assert types[:2] == ["execution.requested", "execution.started"]
    assert site.work.calls == ALL
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["stopping", "stopped"]
    assert up.token is not None and site.run("audit", "verify")["faults"] == []


def test_the_first_token_is_shown_once_and_a_second_server_on_an_embedded_ledger_is_refused(site: Site) -> None:
    with site.up() as first:
        refused = site.run("up", "--port", "0", exits=1)
        doctor = site.run("doctor")

    assert first.token is not None
    assert refused["error"]["code"] == "SERVER_RUNNING" and refused["error"]["facts"]["pid"] == str(first.pid)
    (servers,) = [each["what"] for each in doctor["examined"] if each["name"] == "servers"]
    assert servers.endswith(f"/{first.pid} (host/process)")
    with site.up() as again:  # the first was killed
        assert again.token is None


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Up]]:
    """One server for the tests that leave it as it was."""
    folder, work = tmp_path_factory.mktemp("running"), Work()
    site = Site(folder, work, make_office(folder / "office", work, steps=4))
    try:
        with site.up(str(site.office)) as up:
            yield site, up
    finally:
        work.stop()


@pytest.fixture
def beside(running: tuple[Site, Up]) -> Iterator[tuple[Site, Up]]:
    """The server that runs, with nothing counted yet and nothing held back afterwards."""
    running[0].work.calls.clear()
    yield running
    running[0].work.release()


def test_a_command_beside_the_server_does_the_work_once_and_tells_how_it_ended(beside: tuple[Site, Up]) -> None:
    site, _ = beside
    said = site.run("run", str(site.office), GOAL, "--as", "planner")

    assert said["state"] == "done"
    assert site.work.calls == ALL


def test_a_command_follows_what_the_server_took_up_first(beside: tuple[Site, Up]) -> None:
    site, up = beside
    site.work.held = {"s2"}
    execution = site.submit(up)
    site.work.wait_for("s2")
    command = site.start("resume", execution, "--json")
    site.work.release()
    out, err = command.communicate(timeout=60)

    assert command.returncode == 0 and json.loads(out)["state"] == "done", err
    assert site.work.calls == ALL


def test_an_answer_given_by_a_command_leads_to_the_end_and_nothing_is_done_twice(beside: tuple[Site, Up]) -> None:
    site, up = beside
    execution = site.submit(up, "Ask about a day")
    site.follow(up, execution, until="execution.waiting")
    (question,) = site.run("approvals", "list")["questions"]
    answered = site.run("answer", question["id"], "monday", "--as", "planner")
    site.follow(up, execution)

    assert answered["state"] == "done"
    assert site.work.calls == Counter(before=1, then=1)


def test_an_answer_given_through_the_api_wakes_the_server(beside: tuple[Site, Up]) -> None:
    site, up = beside
    execution = site.submit(up, "Ask about a day")
    site.follow(up, execution, until="execution.waiting")
    (question,) = site.ask(up, "GET", "/questions")["questions"]
    ulid = question["question_id"].partition("/")[2]
    site.ask(up, "POST", f"/questions/{ulid}/answer", {"value": "monday", "as": "planner"})
    site.follow(up, execution)

    assert site.work.calls == Counter(before=1, then=1)


def test_an_execution_that_waits_is_cancelled_through_the_api(beside: tuple[Site, Up]) -> None:
    site, up = beside
    execution = site.submit(up, "Ask about a day")
    site.follow(up, execution, until="execution.waiting")
    site.ask(up, "POST", f"/executions/{execution}/cancel", {"as": "planner"})
    site.follow(up, execution)

    assert site.state(up, execution) == "cancelled"


def test_told_to_stop_a_server_ends_the_step_in_progress_and_the_next_one_goes_on(site: Site) -> None:
    site.work.held = {"s2"}
    with site.up(str(site.office)) as up:
        execution = site.submit(up)
        site.work.wait_for("s2")
        assert up.begin_to_stop()["in_hand"] == 1
        site.work.release()
        up.process.wait(timeout=60)
    assert site.work.calls == Counter(s1=1, s2=1)

    with site.up(str(site.office)) as up:
        site.follow(up, execution)

    assert site.work.calls == ALL


def test_told_twice_it_ends_at_once(site: Site) -> None:
    site.work.held = {"s2"}
    with site.up(str(site.office)) as up:
        execution = site.submit(up)
        site.work.wait_for("s2")
        up.begin_to_stop()
        up.stop()
        site.work.release()
    assert site.run("runs")["executions"][0]["held"] is False

    with site.up(str(site.office)) as up:
        site.follow(up, execution)

    assert site.work.calls == ALL + Counter(s2=1)


def test_a_stream_goes_on_after_a_restart_without_gap_or_repeat(site: Site) -> None:
    site.work.held = {"s3"}
    with site.up(str(site.office)) as up:
        execution = site.submit(up)
        seen = []
        for event in site.events(up, execution):
            seen.append(event)
            if len(seen) == 3:
                site.work.wait_for("s3")
                up.kill()
                break
    site.work.release()

    with site.up(str(site.office)) as up:
        seen += site.events(up, execution, after=seen[-1]["position"])
        whole = list(site.events(up, execution))

    assert [event["position"] for event in seen] == [event["position"] for event in whole]
    assert whole[-1]["type"] == "execution.finished"
