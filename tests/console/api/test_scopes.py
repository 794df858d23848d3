"""What people see and may do over HTTP who have roles in departments only."""

from __future__ import annotations

import json

import pytest

from contracts import ExecutionId
from tests.console.api.conftest import Served
from tests.console.desks import GOAL, TWO_DESKS

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desks(served: Served) -> Served:
    """The desk with two departments, of which the one that works by day has the skill."""
    (served.folder / "org.yaml").write_text(TWO_DESKS)
    return served


async def waiting(desks: Served) -> tuple[ExecutionId, str]:
    """Return an execution of the day's desk and the question that it waits for."""
    execution_id = await desks.submit()
    await desks.run(execution_id)
    async with desks.client() as client:
        asked = (await client.get("/questions")).json()["questions"]
    return execution_id, next(each["question_id"] for each in asked if each["execution_id"] == execution_id)


async def test_a_viewer_of_the_department_sees_what_it_does(desks: Served) -> None:
    execution_id, question = await waiting(desks)
    async with desks.client(await desks.token("day-viewer")) as client:
        listed = (await client.get("/executions")).json()["executions"]
        asked = (await client.get("/questions")).json()["questions"]
        one = await client.get(f"/executions/{execution_id.ulid}")
    assert execution_id in [each["execution_id"] for each in listed]
    assert question in [each["question_id"] for each in asked]
    assert one.status_code == 200


async def test_of_another_department_nothing_is_there(desks: Served) -> None:
    execution_id, question = await waiting(desks)
    async with desks.client(await desks.token("night-lead")) as client:
        paths = ("", "/tree", "/events")
        answers = [await client.get(f"/executions/{execution_id.ulid}{path}") for path in paths]
        answers += [await client.post(f"/executions/{execution_id.ulid}/{verb}") for verb in ("cancel", "resume")]
        ulid = question.partition("/")[2]
        answers.append(await client.post(f"/questions/{ulid}/answer", json={"value": "monday"}))
        listed = (await client.get("/executions")).json()
        asked = (await client.get("/questions")).json()["questions"]
    assert {each.status_code for each in answers} == {404}
    assert listed == {"executions": [], "next": None}
    assert asked == []


async def test_who_may_only_look_in_a_department_starts_and_stops_nothing_there(desks: Served) -> None:
    execution_id, _ = await waiting(desks)
    async with desks.client(await desks.token("day-viewer")) as client:
        started = await client.post("/executions", json=GOAL)
        stopped = await client.post(f"/executions/{execution_id.ulid}/cancel")
    assert (started.status_code, stopped.status_code) == (403, 403)
    assert "in the department of day-desk" in started.json()["detail"]


async def test_an_operator_of_the_department_starts_and_stops_its_work(desks: Served) -> None:
    async with desks.client(await desks.token("day-lead")) as client:
        started = await client.post("/executions", json=GOAL)
        stopped = await client.post(f"/executions/{started.json()['execution_id'].partition('/')[2]}/cancel")
    assert (started.status_code, stopped.status_code) == (202, 202)


async def test_a_department_taken_away_is_out_of_sight_from_the_next_request_on(desks: Served) -> None:
    execution_id, _ = await waiting(desks)
    async with desks.client(await desks.token("day-viewer")) as client:
        before = await client.get(f"/executions/{execution_id.ulid}")
        (desks.folder / "org.yaml").write_text(TWO_DESKS.replace("day-desk: viewer, ", ""))
        after = await client.get(f"/executions/{execution_id.ulid}")
    assert (before.status_code, after.status_code) == (200, 404)


@pytest.mark.parametrize(("person", "told"), [("day-lead", True), ("night-lead", False)])
async def test_a_stream_of_all_events_tells_those_of_the_departments_in_sight(
    desks: Served, person: str, told: bool
) -> None:
    token, before = await desks.token(person), await desks.application.head()
    await desks.submit()
    through = await desks.application.head()
    seen = await types_told(desks, token, after=before, through=through)
    assert ("execution.requested" in seen) is told


@pytest.mark.parametrize(("person", "told"), [("planner", False), ("clerk", False), (None, True)])
async def test_a_stream_of_all_events_tells_nobody_what_is_remembered_of_people(
    served: Served, person: str | None, told: bool
) -> None:
    token = await served.token(person) if person else None
    async with served.client(await served.token("planner")) as client:
        before = await served.application.head()
        assert (await client.post("/memories", json={"text": "I like tables."})).status_code == 201
        assert (await client.put("/me/profile", json={"trait": "format", "value": "table"})).status_code == 200
    execution_id = await served.submit()
    through = await served.application.head()
    seen = await types_told(served, token, after=before, through=through)
    assert "execution.requested" in seen, execution_id
    assert bool({"memory.written", "profile.set"} & seen) is told


async def types_told(served: Served, token: str | None, *, after: int, through: int) -> set[str]:
    """Return the types of the events that a reader is told between two positions; no token: an administrator's."""
    seen, last = set[str](), 0
    async with (
        served.client(*filter(None, [token])) as client,
        client.stream("GET", "/events", params={"after": after}) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith("data: {"):
                seen.add(json.loads(line[6:])["type"])
            elif line.startswith("id: "):
                last = int(line[4:])
            elif not line and last >= through:
                break
    return seen
