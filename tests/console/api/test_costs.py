from __future__ import annotations

import pytest

from tests.console.api.conftest import Served
from tests.console.desks import TWO_DESKS

pytestmark = pytest.mark.anyio


async def test_costs_and_rules_of_an_organisation_are_told(served: Served) -> None:
    execution = await served.submit()
    organisation = (await served.application.row(execution)).organisation
    async with served.client() as client:
        costs = (await client.get("/costs", params={"organisation": organisation, "by": "model"})).json()
        rules = await client.get("/rules", params={"organisation": organisation})
        wrong = await client.get("/costs", params={"organisation": organisation, "by": "colour"})

    assert (costs["organisation"], costs["by"], costs["rows"]) == (organisation, "model", [])
    assert costs["total"]["money"] == []
    assert rules.status_code == 200
    assert wrong.status_code == 422


async def test_who_sees_departments_only_is_told_what_was_spent_there(served: Served) -> None:
    budgets = "budgets: [{department: day-desk, per: day, tokens: 9}, {department: night-desk, per: day, tokens: 9}]\n"
    (served.folder / "org.yaml").write_text(TWO_DESKS.replace("\nhead:", f"\n{budgets}head:", 1))
    execution = await served.submit()
    await served.run(execution)
    async with served.client() as client:
        asked = (await client.get("/questions")).json()["questions"]
        question = next(each["question_id"] for each in asked if each["execution_id"] == execution)
        path = f"/questions/{question.partition('/')[2]}/answer"
        assert (await client.post(path, json={"value": "monday", "as": "clerk"})).status_code < 300
    await served.run(execution)

    told = {}
    for person in ("day-viewer", "night-lead"):
        async with served.client(await served.token(person)) as client:
            costs = (await client.get("/costs", params={"by": "agent"})).json()
            limits = (await client.get("/costs/budgets")).json()["budgets"]
        told[person] = (costs["total"]["steps"], {each["budget"] for each in limits})

    assert told["day-viewer"][0] > 0
    assert told["night-lead"][0] == 0
    assert told["night-lead"][1] == {"department/night-desk/day"}
    assert "department/day-desk/day" in told["day-viewer"][1]
