"""What people were told, by way of the whole program: a step tells it, a program reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.api.conftest import Served, make_organisation

pytestmark = pytest.mark.anyio
PLAN = """\
parameters: {days: {type: integer, default: 1}}
steps:
  - {id: tell, use: notify, with: {to: clerks, text: "{{ days }} day was chosen.", key: chosen}}
"""


async def told(served: Served, times: int = 1) -> None:
    """Let executions tell the clerks something under one key."""
    (served.folder / "skills" / "choose-day" / "plan.yaml").write_text(PLAN)
    for _ in range(times):
        await served.run(await served.submit())


async def test_a_message_stands_in_the_list_once_however_many_executions_tell_it(served: Served) -> None:
    await told(served, times=2)
    async with served.client() as client:
        (message,) = (await client.get("/notifications")).json()["notifications"]
        others = (await client.get("/notifications", params={"to": "planner"})).json()["notifications"]
        own = (await client.get("/notifications", params={"to": "clerk", "limit": 1})).json()["notifications"]

    assert (message["to"], message["text"], message["employee"]) == (["clerk"], "1 day was chosen.", "head")
    assert (others, own) == ([], [message])


async def test_another_organisation_hears_nothing_of_it(served: Served, tmp_path: Path) -> None:
    await told(served)
    elsewhere = make_organisation(tmp_path / "elsewhere")
    async with served.client(await served.token("planner", elsewhere)) as client:
        assert (await client.get("/notifications")).json() == {"notifications": []}


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"who": "clerk"}, {"to": "No Name"}])
async def test_a_query_that_cannot_be_meant_is_refused(served: Served, query: dict[str, str | int]) -> None:
    async with served.client() as client:
        assert (await client.get("/notifications", params=query)).status_code == 422
