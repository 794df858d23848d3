from __future__ import annotations

import pytest

from tests.console.api.conftest import Served

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
