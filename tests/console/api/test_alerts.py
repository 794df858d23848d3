"""Alerts over HTTP, by way of the whole program: whoever notices gives signals, people see to them by their roles."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from governance.alerts import Alerts, Noted, rules_by
from runtime.settings import AlertSettings
from tests.console.api.conftest import Served

pytestmark = pytest.mark.anyio


def noticed(number: int = 0) -> Noted:
    labels = {"oven": str(number)}
    return Noted("duty/ovens", "too_hot", f"oven:{number}", datetime.now(UTC), labels=labels)


async def alerts_of(served: Served, *raw: Noted) -> Alerts:
    """Let something be noticed; it needs no sensor."""
    from zoneinfo import ZoneInfo

    alerts = Alerts(served.store, "desk", rules_by(AlertSettings(), deduplicate_s=60, zone=ZoneInfo("UTC")))
    await alerts.note(raw or [noticed()], datetime.now(UTC))
    return alerts


async def listed(served: Served, token: str | None = None, **query: Any) -> dict[str, Any]:
    async with served.client(token) as client:
        response = await client.get("/alerts", params={"organisation": "desk", **query})
        assert response.status_code == 200, response.text
        return dict(response.json())


async def test_alerts_are_listed_with_their_silences(served: Served) -> None:
    await alerts_of(served, noticed(1), noticed(2))

    shown = await listed(served)
    some = await listed(served, match=["oven=2"])

    assert [each["labels"]["oven"] for each in shown["alerts"]] == ["1", "2"]
    assert [each["labels"]["oven"] for each in some["alerts"]] == ["2"]
    assert shown["silences"] == []


async def test_an_operator_takes_an_alert_on_once(served: Served) -> None:
    await alerts_of(served)
    ulid = (await listed(served))["alerts"][0]["alert_id"].partition("/")[2]
    async with served.client(await served.token("planner")) as client:
        taken = await client.post(f"/alerts/{ulid}/acknowledge", json={"reason": "on my way"})
        again = await client.post(f"/alerts/{ulid}/acknowledge", json={})
        shown = (await client.get(f"/alerts/{ulid}")).json()

    assert (taken.json()["state"], taken.json()["acknowledged_by"]) == ("acknowledged", "planner")
    assert (again.status_code, again.json()["code"]) == (409, "ALERT_PAST")
    assert [each["type"] for each in shown["history"]] == ["alert.opened", "alert.acknowledged"]


@pytest.mark.parametrize("person", ["guest", "clerk"])
async def test_whoever_does_not_operate_and_was_not_told_only_looks(served: Served, person: str) -> None:
    await alerts_of(served)
    ulid = (await listed(served))["alerts"][0]["alert_id"].partition("/")[2]
    async with served.client(await served.token(person)) as client:
        taken = await client.post(f"/alerts/{ulid}/acknowledge", json={})
        silence = await client.post("/silences", json={"match": {"oven": ["*"]}, "reason": "quiet", "hours": 1})
        looked = await client.get("/alerts")

    assert [taken.status_code, silence.status_code, looked.status_code] == [403, 403, 200]


async def test_a_silence_is_made_shown_and_lifted(served: Served) -> None:
    await alerts_of(served)
    async with served.client(await served.token("planner")) as client:
        made = await client.post("/silences", json={"match": {"oven": ["0"]}, "reason": "new oven", "hours": 2})
        shown = (await client.get("/alerts")).json()
        ulid = made.json()["silence_id"].partition("/")[2]
        lifted = await client.post(f"/silences/{ulid}/lift", json={})
        again = await client.post(f"/silences/{ulid}/lift", json={})

    assert made.status_code == 201, made.text
    assert [hush["reason"] for hush in shown["alerts"][0]["hushes"]] == ["silenced"]
    assert [each["reason"] for each in shown["silences"]] == ["new oven"]
    assert (lifted.json()["lifted_by"], again.status_code) == ("planner", 409)


async def test_a_value_with_a_comma_is_one_value(served: Served) -> None:
    async with served.client(await served.token("planner")) as client:
        made = await client.post("/silences", json={"match": {"oven": ["a,b=c"]}, "reason": "x", "hours": 1})

    assert made.json()["match"] == {"oven": ["a,b=c"]}


@pytest.mark.parametrize(
    "body",
    [
        {"match": {}, "reason": "all", "hours": 1},
        {"match": {"oven": []}, "reason": "none", "hours": 1},
        {"match": {"oven": ["0"]}, "reason": "for ever"},
        {"match": {"oven": ["0"]}, "reason": "both", "hours": 1, "until": "2013-02-08T17:00"},
        {"match": {"oven": ["0"]}, "reason": "", "hours": 1},
        {"match": {"oven": ["0"]}, "reason": "long", "hours": 10_000},
    ],
)
async def test_a_silence_that_cannot_be_meant_is_refused(served: Served, body: dict[str, Any]) -> None:
    async with served.client(await served.token("planner")) as client:
        assert (await client.post("/silences", json=body)).status_code == 422


async def test_attention_tells_the_order_and_what_is_left_out(served: Served) -> None:
    alerts = await alerts_of(served, noticed(1), noticed(2))
    async with served.client(await served.token("planner")) as client:
        first = (await client.get("/alerts")).json()["alerts"][0]["alert_id"].partition("/")[2]
        await client.post(f"/alerts/{first}/acknowledge", json={})
        told = (await client.get("/attention")).json()

    assert len(await alerts.recent()) == 2
    assert [each["alert"]["labels"]["oven"] for each in told["order"]] == ["2"]
    assert [(each["why"], each["by"]) for each in told["left_out"]] == [("acknowledged", "planner")]
    assert set(told["order"][0]["parts"]) == {"severity", "timeliness", "impact", "waiting"}


async def test_an_alert_that_is_not_there_is_not_found(served: Served) -> None:
    async with served.client(await served.token("planner")) as client:
        missing = await client.get("/alerts/01JB0000000000000000000ART")

    assert missing.status_code == 404
