"""Executions over HTTP: recorded and woken, never run here; and nobody sees or does what is not theirs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from contracts import ExecutionId
from runtime.ledger.ledger import SqlLedger
from tests.console.api.conftest import GOAL, Served, make_organisation

pytestmark = pytest.mark.anyio
NOBODY = "01JB0000000000000000000XEC"


async def test_a_goal_is_recorded_then_the_executor_is_woken(served: Served) -> None:
    async with served.client() as client:
        response = await client.post("/executions", json={**GOAL, "organisation": "desk", "parameters": {"days": 3}})
        body = response.json()
        assert response.status_code == 202
        assert served.woken == [body["execution_id"]]
        assert response.headers["location"] == body["links"]["self"]
        assert (body["state"], body["held"], body["requested_by"]) == ("running", False, "planner")
        types = [event.type for event in await served.store.ledger.read(body["execution_id"])]

    assert types == ["execution.requested"]


async def test_the_same_key_is_the_same_execution_also_for_many_at_once(served: Served) -> None:
    async with served.client(idempotency_key="once") as client:
        asked = [client.post("/executions", json={**GOAL, "organisation": "desk"}) for _ in range(10)]
        answers = await asyncio.gather(*asked)
        other = await client.post("/executions", json={"goal": "Choose a day, quickly", "organisation": "desk"})

    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [202]
    assert len({answer.json()["execution_id"] for answer in answers}) == 1
    assert (other.status_code, other.json()["code"]) == (422, "KEY_IN_USE")


UNFIT: list[tuple[object, str]] = [
    ({"organisation": "desk"}, "body/goal"),
    ({**GOAL, "goal": ""}, "body/goal"),
    ({**GOAL, "goal": "x" * 4_001}, "body/goal"),
    ({**GOAL, "wish": 1}, "body/wish"),
    ({**GOAL, "strict": "perhaps"}, "body/strict"),
    ({**GOAL, "budget": {"steps": 0}}, "body/budget/steps"),
    ({**GOAL, "budget": {"beer": 1}}, "body/budget/beer"),
    ({**GOAL, "organisation": "Not A Name"}, "body/organisation"),
    ([], "body"),
    ("text", "body"),
]


async def test_what_does_not_fit_is_told_with_its_place_and_nothing_is_recorded(served: Served) -> None:
    before = await served.store.ledger.head()
    async with served.client() as client:
        for body, at in UNFIT:
            response = await client.post("/executions", json=body)
            assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
            assert [fault["at"] for fault in response.json()["errors"]] == [at]

    assert await served.store.ledger.head() == before
    assert served.woken == []


@pytest.mark.parametrize("wrong", ["01jb0000000000000000000xec", "01JB", "execution"])
async def test_an_id_that_is_none_is_told_how_one_is_written(served: Served, wrong: str) -> None:
    async with served.client() as client:
        response = await client.get(f"/executions/{wrong}")

    (fault,) = response.json()["errors"]
    assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
    assert fault["at"] == "path execution"
    assert fault["detail"].startswith("must be the part of an id after its slash, 26 digits and capital letters")
    assert "{25}" not in response.text


NOT_TAKEN: list[tuple[dict[str, object], int, str]] = [
    ({"organisation": "nowhere"}, 404, "NOT_FOUND"),
    ({"organisation": None}, 422, "INVALID_ARGUMENTS"),
    ({"skill": "dance"}, 422, "SKILL_UNCLEAR"),
    ({"goal": "Bake bread"}, 422, "SKILL_UNCLEAR"),
    ({"parameters": {"days": "many"}}, 422, "INVALID_ARGUMENTS"),
    ({"parameters": {"weeks": 1}}, 422, "INVALID_ARGUMENTS"),
    ({"as": "nobody"}, 422, "NOBODY_ACTS"),
    ({"as": "guest"}, 403, "PERMISSION_REFUSED"),
]


async def test_what_the_organisation_does_not_take_is_told_with_its_reason(served: Served) -> None:
    async with served.client() as client:
        for more, status, code in NOT_TAKEN:
            response = await client.post("/executions", json={**GOAL, "organisation": "desk", **more})
            assert (response.status_code, response.json()["code"]) == (status, code), more

    assert served.woken == []


async def test_the_list_is_read_page_by_page_and_none_is_missed_or_shown_twice(served: Served) -> None:
    asked = [await served.submit() for _ in range(5)]
    seen: list[str] = []
    async with served.client() as client:
        cursor: str | None = None
        while True:
            page = (
                await client.get("/executions", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
            ).json()
            seen += [each["execution_id"] for each in page["executions"]]
            cursor = page["next"]
            if cursor is None:
                break
            await served.submit()  # what is asked for meanwhile stands before the page

    assert seen[:5] == asked[::-1]
    assert len(seen) == len(set(seen)) == 6


async def test_a_cursor_goes_on_also_when_its_execution_was_pruned(served: Served) -> None:
    asked = [await served.submit() for _ in range(3)]
    await served.store.ledger.prune({asked[1]: 1}, reason="test")
    async with served.client() as client:
        page = (await client.get("/executions", params={"cursor": asked[1].ulid})).json()

    assert page["executions"][0]["execution_id"] == asked[0]


async def test_a_page_is_not_taken_for_the_last_because_one_of_it_was_pruned_meanwhile(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [await served.submit() for _ in range(3)]
    newest = SqlLedger.newest_streams

    async def pruned_meanwhile(ledger: SqlLedger, *words: Any, **more: Any) -> list[str]:
        monkeypatch.setattr(SqlLedger, "newest_streams", newest)
        found = await newest(ledger, *words, **more)
        await served.store.ledger.prune({asked[2]: 1}, reason="test")
        return found

    monkeypatch.setattr(SqlLedger, "newest_streams", pruned_meanwhile)
    async with served.client() as client:
        page = (await client.get("/executions", params={"limit": 1})).json()

    assert [each["execution_id"] for each in page["executions"]] == [asked[1]] and page["next"] == asked[1].ulid


async def test_a_query_that_does_not_fit_is_refused(served: Served) -> None:
    async with served.client() as client:
        for query in ("limit=0", "limit=201", "limit=x", "cursor=x", "page=2", "organisation=Not+A+Name"):
            response = await client.get(f"/executions?{query}")
            assert response.status_code == 422
            assert response.json()["errors"][0]["at"] == f"query {query.partition('=')[0]}"


async def test_a_parameter_that_no_route_knows_is_refused_and_not_passed_over(served: Served) -> None:
    here = f"/executions/{(await served.submit()).ulid}"
    async with served.client() as client:
        for path in ("/questions", here, f"{here}/tree", f"{here}/events", "/events"):
            response = await client.get(f"{path}?afte=5")
            assert (response.status_code, response.json()["errors"][0]["at"]) == (422, "query afte")


async def test_an_execution_is_shown_with_what_it_waits_for(served: Served) -> None:
    execution_id = await served.submit()
    await served.run(execution_id)
    async with served.client() as client:
        body = (await client.get(f"/executions/{execution_id.ulid}")).json()
        tree = (await client.get(body["links"]["tree"].removeprefix("/api/v1"))).json()

    assert body["state"] == "waiting"
    assert [question["text"] for question in body["questions"]] == ["Which day?"]
    assert body["waiting_for"] == [body["questions"][0]["question_id"]]
    assert [step["state"] for step in tree["root"]["steps"]] == ["waiting"]


async def test_an_execution_that_is_not_there_is_not_found(served: Served) -> None:
    async with served.client() as client:
        for path in ("", "/tree", "/events"):
            missing = await client.get(f"/executions/{NOBODY}{path}")
            odd = await client.get(f"/executions/not-an-id{path}")
            assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
            assert (odd.status_code, odd.json()["code"]) == (422, "INVALID_REQUEST")


async def test_a_cancel_is_recorded_with_who_asked_and_twice_is_once(served: Served) -> None:
    execution_id = await served.submit()
    async with served.client() as client:
        for _ in range(2):
            response = await client.post(f"/executions/{execution_id.ulid}/cancel", json={"as": "planner"})
            assert response.status_code == 202
    events = await served.store.ledger.read(execution_id)

    assert [event.type for event in events] == ["execution.requested", "execution.cancel_requested"]
    assert events[1].data == {"by": "planner"}
    assert served.woken == [execution_id] * 3


async def test_whoever_only_decides_neither_starts_nor_stops_work(served: Served) -> None:
    execution_id = await served.submit()
    async with served.client(await served.token("clerk")) as approver:
        answers = [
            await approver.post(f"/executions/{execution_id.ulid}/cancel"),
            await approver.post("/executions", json=GOAL),
        ]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "PERMISSION_REFUSED")] * 2
    assert [event.type for event in await served.store.ledger.read(execution_id)] == ["execution.requested"]


async def test_a_cancelled_execution_ends_once_somebody_takes_it_up(served: Served) -> None:
    execution_id = await served.submit()
    await served.run(execution_id)
    async with served.client() as client:
        await client.post(f"/executions/{execution_id.ulid}/cancel")
        await served.run(execution_id)
        assert (await client.get(f"/executions/{execution_id.ulid}")).json()["state"] == "cancelled"
        assert (await client.post(f"/executions/{execution_id.ulid}/cancel")).json()["state"] == "cancelled"


async def test_only_what_failed_is_recorded_to_go_on_and_everything_is_woken(served: Served) -> None:
    execution_id = await served.submit()
    async with served.client() as client:
        assert (await client.post(f"/executions/{execution_id.ulid}/resume")).status_code == 202

    assert [event.type for event in await served.store.ledger.read(execution_id)] == ["execution.requested"]
    assert served.woken == [execution_id] * 2


async def test_a_budget_for_one_that_has_not_stopped_is_refused(served: Served) -> None:
    execution_id = await served.submit()
    await served.run(execution_id)
    async with served.client() as client:
        here = f"/executions/{execution_id.ulid}/resume"
        refused = await client.post(here, json={"budget": {"steps": 9}})
        unfit = await client.post(here, json={"budget": {"beer": 9}})

    assert (refused.status_code, refused.json()["code"]) == (409, "BUDGET_REFUSED")
    assert (unfit.status_code, unfit.json()["errors"][0]["at"]) == (422, "body/budget/beer")


async def test_a_token_of_a_person_acts_as_that_person_only(served: Served) -> None:
    async with served.client(await served.token("planner")) as client:
        own = await client.post("/executions", json=GOAL)  # it needs to name neither organisation nor person
        other = await client.post("/executions", json={**GOAL, "as": "clerk"})

    assert own.json()["requested_by"] == "planner"
    assert (other.status_code, other.json()["code"]) == (403, "PERMISSION_REFUSED")


async def test_who_may_only_look_reads_and_changes_nothing(served: Served) -> None:
    execution_id = await served.submit()
    before = await served.store.ledger.head()
    async with served.client(await served.token("guest")) as client:
        assert (await client.get(f"/executions/{execution_id.ulid}")).status_code == 200
        answers = [
            await client.post("/executions", json=GOAL),
            await client.post(f"/executions/{execution_id.ulid}/cancel"),
            await client.post(f"/executions/{execution_id.ulid}/resume"),
        ]

    assert [answer.status_code for answer in answers] == [403] * 3
    assert await served.store.ledger.head() == before + 1  # the token


async def test_another_organisation_is_as_if_it_were_not_there(served: Served, tmp_path: Path) -> None:
    execution_id = await served.submit()
    await served.run(execution_id)
    question = (await served.application.questions())[0].question_id
    elsewhere = make_organisation(tmp_path / "elsewhere")
    async with served.client(await served.token("planner", elsewhere)) as client:
        listed = (await client.get("/executions")).json()["executions"]
        asked = (await client.get("/executions", params={"organisation": "desk"})).json()["executions"]
        here = f"/executions/{execution_id.ulid}"
        codes = [(await client.get(f"{here}{path}")).status_code for path in ("", "/tree", "/events")]
        codes += [(await client.post(f"{here}/{what}")).status_code for what in ("cancel", "resume")]
        codes.append((await client.post(f"/questions/{question.ulid}/answer", json={"value": "monday"})).status_code)
        codes.append((await client.post("/executions", json={**GOAL, "organisation": "desk"})).status_code)
        questions = (await client.get("/questions")).json()["questions"]

    assert (listed, asked, questions) == ([], [], [])
    assert codes == [404] * 7


async def test_a_question_is_answered_once_by_who_was_asked(served: Served) -> None:
    execution_id = await served.submit()
    await served.run(execution_id)
    async with served.client() as client:
        (question,) = (await client.get("/questions")).json()["questions"]
        answer = f"/questions/{question['question_id'].partition('/')[2]}/answer"
        wrong = await client.post(answer, json={"value": "sunday", "as": "clerk"})
        other = await client.post(answer, json={"value": "monday", "as": "planner"})
        right = await client.post(answer, json={"value": "monday", "as": "clerk"})
        again = await client.post(answer, json={"value": "tuesday", "as": "clerk"})
        await served.run(execution_id)
        body = (await client.get(f"/executions/{execution_id.ulid}")).json()

    assert [each.status_code for each in (wrong, other, right, again)] == [422, 403, 200, 409]
    assert [each.json()["code"] for each in (wrong, other, again)] == [
        "INVALID_ARGUMENTS", "NOT_ALLOWED_TO_DECIDE", "CARD_CLOSED",
    ]  # fmt: skip
    assert right.json()["execution_id"] == served.woken[-1] == execution_id
    assert body["state"] == "done"


async def test_an_id_in_an_answer_leads_to_the_execution(served: Served) -> None:
    execution_id = await served.submit()
    async with served.client() as client:
        links = (await client.get(f"/executions/{execution_id.ulid}")).json()["links"]
        codes = [(await client.get(links[name].removeprefix("/api/v1"))).status_code for name in ("self", "tree")]

    assert codes == [200, 200]
    assert ExecutionId(f"execution/{links['self'].rpartition('/')[2]}") == execution_id


async def test_one_that_was_pruned_is_gone_and_others_never_hear_that_it_was_there(
    served: Served, tmp_path: Path
) -> None:
    execution_id = await served.submit()
    stranger = await served.token("planner", make_organisation(tmp_path / "harbour"))
    await served.store.ledger.prune({execution_id: 1}, reason="old")
    async with served.client() as client, served.client(stranger) as other:
        for address in ("", "/tree", "/events"):
            answer = await client.get(f"/executions/{execution_id.ulid}{address}")
            hidden = await other.get(f"/executions/{execution_id.ulid}{address}")

            assert (answer.status_code, answer.json()["code"]) == (410, "EXECUTION_PRUNED")
            told = answer.json()["facts"]
            assert (told["organisation"], told["reason"], told["events"]) == ("desk", "old", 1)
            assert (hidden.status_code, hidden.json()["code"]) == (404, "NOT_FOUND")
        assert (await client.get(f"/executions/{NOBODY}")).status_code == 404
