"""Cards over HTTP: a GET shows them and decides nothing; a POST of an authenticated person decides, by role."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from contracts import DecisionCard, Effect, ExecutionId
from governance.access import People
from governance.approvals import ApprovalGateway
from runtime.clock import SystemClock
from tests.console.api.conftest import Served, make_organisation
from tests.governance.cards import action, card, option

pytestmark = pytest.mark.anyio


async def raised(served: Served, execution_id: ExecutionId | None = None, **fields: Any) -> DecisionCard:
    """Put a card there that waits for a clerk."""
    now = SystemClock().now()
    acts = option("waive", action(effect=Effect.WRITE)).model_copy(update={"reversible": True})
    new = card(
        organisation="desk", execution_id=execution_id or await served.submit(), who=("clerks",), policy="default",
        requested_by="planner", raised_at=now, **{
            "deadline": now + timedelta(hours=2), "options": (acts, option("nothing")), **fields,
        },
    )  # fmt: skip
    gateway = ApprovalGateway(served.store, SystemClock(), People(()), "desk")
    await served.store.ledger.append(gateway.card_append(new))
    return new


def where(shown: DecisionCard, more: str = "") -> str:
    return f"/approvals/{shown.card_id.ulid}{more}"


async def test_a_card_is_shown_by_a_get_which_decides_nothing_and_decided_by_a_post(served: Served) -> None:
    shown = await raised(served)
    async with served.client(await served.token("clerk")) as client:
        whole = (await client.get(where(shown), params={})).json()
        again = (await client.get(where(shown))).json()
        assert (whole["stands"], again["stands"], whole["decisions"]) == ("open", "open", [])
        assert (await client.get(where(shown, "/decision"))).status_code == 405

        said = {"approve": True, "option": "waive", "reason": "storm", "card_sha256": whole["card_sha256"]}
        decided = await client.post(where(shown, "/decision"), json=said)

    assert decided.status_code == 200, decided.text
    (decision,) = decided.json()["decisions"]
    assert (decision["by"], decision["reason"], decision["card_version"]) == ("clerk", "storm", 1)
    assert decision["via"].startswith("api from 127.0.0.1 by token/") and decision["at"]
    assert decision["card_sha256"] == whole["card_sha256"]
    assert served.woken[-1] == shown.execution_id


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"approve": "yes", "option": "waive"}, 422),
        ({"approve": 1, "option": "waive"}, 422),
        ({"approve": None, "option": "waive"}, 422),
        ({"option": "waive"}, 422),
        ({}, 422),
        ({"approve": True}, 422),
        ({"approve": True, "option": "other"}, 422),
        ({"approve": False}, 422),
        ({"approve": False, "option": "waive", "reason": "no"}, 422),
        ({"approve": True, "option": "waive", "card_sha256": "0" * 64}, 422),
    ],
)
async def test_nothing_but_an_explicit_yes_to_what_was_shown_decides(
    served: Served, said: dict[str, Any], status: int
) -> None:
    shown = await raised(served)
    async with served.client(await served.token("clerk")) as client:
        sha = (await client.get(where(shown))).json()["card_sha256"]
        refused = await client.post(where(shown, "/decision"), json={"card_sha256": sha, **said})
        assert refused.status_code == status, refused.text
        assert (await client.get(where(shown))).json()["stands"] == "open"


@pytest.mark.parametrize(("person", "code"), [("planner", "NOT_ALLOWED_TO_DECIDE"), ("guest", "NOT_ALLOWED_TO_DECIDE")])
async def test_who_asked_or_only_looks_decides_nothing(served: Served, person: str, code: str) -> None:
    shown = await raised(served)
    async with served.client(await served.token(person)) as client:
        sha = (await client.get(where(shown))).json()["card_sha256"]
        said = {"approve": True, "option": "waive", "card_sha256": sha}
        refused = await client.post(where(shown, "/decision"), json=said)
        impostor = await client.post(where(shown, "/decision"), json={**said, "as": "clerk"})
    assert (refused.status_code, refused.json()["code"]) == (403, code)
    assert impostor.status_code == 403
    async with served.client("") as stranger:
        assert (await stranger.post(where(shown, "/decision"), json=said)).status_code == 401


async def test_the_second_to_decide_is_told_who_was_first(served: Served) -> None:
    shown = await raised(served)
    async with served.client(await served.token("clerk")) as client:
        sha = (await client.get(where(shown))).json()["card_sha256"]
        said = {"approve": False, "reason": "too dear", "card_sha256": sha}
        first = await client.post(where(shown, "/decision"), json=said)
        second = await client.post(where(shown, "/decision"), json=said)
    assert (first.status_code, second.status_code, second.json()["code"]) == (200, 409, "CARD_CLOSED")
    assert second.json()["facts"]["by"] == "clerk"


async def test_open_cards_come_by_deadline_page_by_page_and_of_others_nothing_is_there(
    served: Served, tmp_path: Any
) -> None:
    execution_id, now = await served.submit(), SystemClock().now()
    made = [await raised(served, execution_id, deadline=now + timedelta(hours=9 - each)) for each in range(5)]
    async with served.client() as client:
        first = (await client.get("/approvals", params={"limit": 3})).json()
        rest = (await client.get("/approvals", params={"limit": 3, "cursor": first["next"]})).json()
        all_ = (await client.get("/approvals", params={"all": True, "limit": 2})).json()
    found = [each["card_id"] for each in (*first["cards"], *rest["cards"])]
    assert found == [str(each.card_id) for each in reversed(made)] and rest["next"] is None
    newest = sorted((str(each.card_id) for each in made), reverse=True)
    assert [each["card_id"] for each in all_["cards"]] == newest[:2]

    other = make_organisation(tmp_path / "other")
    async with served.client(await served.token("clerk", other)) as client:
        assert (await client.get("/approvals")).json() == {"cards": [], "next": None}
        assert (await client.get(where(made[0]))).status_code == 404


async def test_cards_of_one_kind_are_decided_together_and_final_ones_are_not(served: Served) -> None:
    execution_id = await served.submit()
    some = [await raised(served, execution_id) for _ in range(3)]
    final = [await raised(served, execution_id, options=(option("waive", action()), option("nothing")))]
    async with served.client(await served.token("clerk")) as client:

        async def decide(cards: list[DecisionCard], **said: Any) -> Any:
            return await client.post("/approvals/decisions", json={"cards": [c.card_id.ulid for c in cards], **said})

        mixed = await decide([some[0], *final], approve=True, option="waive")
        alone = await decide(final, approve=True, option="waive")
        together = await decide(some, approve=True, option="waive", reason="alike")
        no = await decide(final, approve=False, reason="not today")
    assert (mixed.status_code, alone.status_code, no.status_code) == (422, 422, 200)
    decided = [each["card"]["decisions"][0]["decision_id"] for each in together.json()["decided"]]
    assert len(set(decided)) == 3


async def test_a_delegation_is_made_listed_and_ended_by_who_may(served: Served) -> None:
    async with served.client(await served.token("clerk")) as client:
        wanted = {"taker": "planner", "ends": "2126-01-01", "reason": "holiday"}
        made = await client.post("/approvals/delegations", json=wanted)
        assert made.status_code == 201, made.text
        listed = (await client.get("/approvals/delegations")).json()["delegations"]
        bad = await client.post("/approvals/delegations", json={**wanted, "ends": "tomorrow"})
    ulid = made.json()["delegation_id"].partition("/")[2]
    async with served.client(await served.token("guest")) as guest:
        refused = await guest.post("/approvals/delegations", json={**wanted, "giver": "clerk"})
        ended = await guest.delete(f"/approvals/delegations/{ulid}")
    async with served.client(await served.token("clerk")) as client:
        gone = await client.delete(f"/approvals/delegations/{ulid}")

    assert [(each["giver"], each["taker"], each["by"]) for each in listed] == [("clerk", "planner", "clerk")]
    assert (bad.status_code, refused.status_code, ended.status_code) == (422, 403, 403)
    assert gone.status_code == 200 and gone.json()["ended_at"]


async def test_what_was_not_carried_out_is_neither_taken_back_nor_edited_without_its_tool(served: Served) -> None:
    shown = await raised(served)
    async with served.client(await served.token("clerk")) as client:
        undo = await client.post(where(shown, "/undo"), json={})
        review = await client.post(where(shown, "/review"), json={"verdict": "right"})
        edit = await client.post(where(shown, "/edits"), json={"option": "waive", "changes": [{"flights": 1}]})
        to_review = (await client.get("/approvals/to-review")).json()
    assert (undo.status_code, undo.json()["code"]) == (409, "CANNOT_BE_UNDONE")
    assert (review.status_code, review.json()["code"]) == (409, "REVIEW_REFUSED")
    assert edit.status_code == 422 and "declared anew" in edit.json()["detail"]
    assert to_review["cards"] == []
