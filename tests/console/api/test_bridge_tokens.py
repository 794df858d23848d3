"""What the token of a bridge opens, and what it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.api.stall import Stall, open_stall

pytestmark = pytest.mark.anyio
NODE = {"name": "arm-1", "capabilities": ["arm.look"]}


@pytest.fixture
async def stall(tmp_path: Path) -> AsyncIterator[Stall]:
    async with open_stall(tmp_path) as stall:
        yield stall


async def test_a_bridge_may_use_the_paths_of_bridges_and_no_other(stall: Stall) -> None:
    client = stall.client(path="")
    for method, path in [
        ("GET", "/executions"),
        ("POST", "/executions"),
        ("GET", "/cluster/nodes"),
        ("GET", "/bridge"),
    ]:
        answer = await client.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (403, "BRIDGES_ONLY"), path


async def test_nobody_but_a_bridge_may_be_one(stall: Stall) -> None:
    _, admin = await stall.application.create_token("admin", folder=None, person=None)
    _, clerk = await stall.application.create_token("clerk", folder=stall.folder, person="clerk")

    for token in (admin, clerk):
        answer = await stall.client(token).post("/nodes", json=NODE)
        assert (answer.status_code, answer.json()["code"]) == (403, "PERMISSION_REFUSED")


async def test_a_label_that_is_not_the_tokens_cannot_be_offered(stall: Stall) -> None:
    arm = stall.arm()

    refused = await arm.post("/nodes", expect=403, **NODE, labels=["arm", "safe"])

    assert (refused["code"], refused["facts"]) == ("BEYOND_RIGHTS", {"labels": ["safe"]})
    assert await stall.application.nodes() == []


async def test_labels_that_decide_where_orders_go_cannot_be_claimed(stall: Stall) -> None:
    for label in ("carries:arm.push", "serves:stall", "asks-first "):
        answer = await stall.client().post("/nodes", json={**NODE, "labels": [label]})
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST"), label


async def test_a_session_is_of_no_use_with_another_token(stall: Stall) -> None:
    arm = await stall.arm().register()
    _, other = await stall.application.create_bridge_token("other", folders=[stall.folder], labels=["arm"])
    running = stall.run("look")
    word = await arm.order(running)
    call = await word.call()
    arm.client = stall.client(other)

    assert (await arm.post(f"{arm.path}/beat", expect=409, session=arm.session))["code"] == "SESSION_OVER"
    assert (await word.say("next", expect=409))["code"] == "STALE_BRIDGE"
    assert (await word.done(call, {"n": 1}, expect=409))["code"] == "STALE_BRIDGE"
    arm.client = stall.client()
    await word.done(call, {"n": 2})
    assert (await running).output == {"it": {"n": 2}}


async def test_a_revoked_token_ends_the_part_of_its_bridge(stall: Stall) -> None:
    arm = await stall.arm().register()
    (token,) = await stall.application.tokens()
    await stall.application.revoke_token(token.token_id)

    assert (await arm.post(f"{arm.path}/beat", expect=401, session=arm.session))["code"] == "UNAUTHENTICATED"


async def test_orders_of_another_organisation_do_not_come(stall: Stall, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "org.yaml").write_text((stall.folder / "org.yaml").read_text().replace("name: stall", "name: other"))
    _, text = await stall.application.create_bridge_token("other", folders=[other], labels=["arm"])
    await stall.arm(token=text).register()

    outcome = await stall.run("look")

    assert outcome.error is not None
    assert (outcome.error.code, "serves:stall" in outcome.error.message) == ("NO_NODE_FITS", True)
