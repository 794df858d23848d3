"""A service that does what it is asked and answers so that nobody can tell: each effect happens once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from contracts import OrderState
from runtime.capabilities.connections import HttpConnection, read_connection
from runtime.capabilities.http import HttpOperation, HttpService, http_capabilities
from runtime.capabilities.port import EffectRequest, Waiting
from runtime.capabilities.secrets import Secrets
from runtime.errors import EffectInDoubt
from runtime.ledger.store import SqlStore
from runtime.settings import HttpSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import CardGate, Tool, World
from tests.fakes.http_service import Answer, Asked
from tests.fakes.http_service import HttpService as Server

pytestmark = pytest.mark.anyio

AFTER_THE_EFFECT = {
    "garbage": Answer(raw=b"<html>fine</html>", media_type="text/html"),
    "broken JSON": Answer(raw=b'{"id": '),
    "a number": Answer(raw=b"1"),
    "a number without end": Answer(raw=b'{"id": ' + b"9" * 10_000 + b"}"),
    "60 MB": Answer(raw=b'{"id": "' + b"x" * 60_000_000 + b'"}'),
    "deep JSON": Answer(raw=b'{"id": ' * 50_000 + b"1" + b"}" * 50_000),
    "another object": Answer(value={"number": 1}),
    "broken compression": Answer(raw=b"{}", headers={"Content-Encoding": "gzip"}),
    "302": Answer(status=302, headers={"Location": "/elsewhere"}),
    "303": Answer(status=303, headers={"Location": "/elsewhere"}),
    "408": Answer(status=408),
    "500": Answer(status=500),
    "503": Answer(status=503, headers={"Retry-After": "0"}),
    "no answer": Answer(hang_up=True),
}
SET = {"id": "set", "use": "till.set", "with": {"percent": 5}}
WITH_OTHERWISE = {**SET, "otherwise": {"use": "till.set", "with": {"percent": 3}}}
PLANS = [pytest.param(SET, id="alone"), pytest.param(WITH_OTHERWISE, id="otherwise")]
ANSWERS = [pytest.param(answer, id=name) for name, answer in AFTER_THE_EFFECT.items()]


class Till:
    """Sets discounts and notes each one it set, repeats too; then answers as it was told to."""

    def __init__(self, *answers: Answer) -> None:
        self.done: list[tuple[str, int]] = []
        self._answers = list(answers)
        self.server = Server(self._answer)

    def _answer(self, asked: Asked) -> Answer:
        if asked.method == "GET":
            key = asked.path.removeprefix("/effects/").replace("%3A", ":")
            known = any(each == key for each, _ in self.done)
            return Answer(value={"id": "d1"}) if known else Answer(status=404)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer.status not in (403, 409):
            self.done.append((asked.headers["Idempotency-Key"], json.loads(asked.body)["percent"]))
        return answer


Open = Callable[..., tuple[World, Till]]


@pytest.fixture
async def till(sqlite_store: SqlStore, clock: HandClock) -> AsyncIterator[Open]:
    tills: list[Till] = []
    services: list[HttpService] = []

    def make(*answers: Answer, lookup: bool) -> tuple[World, Till]:
        tills.append(Till(*answers))
        world = World(sqlite_store, clock, _tool(tills[-1], lookup=lookup, services=services))
        return world, tills[-1]

    yield make
    for service in services:
        await service.close()
    for each in tills:
        each.server.stop()


def _tool(till: Till, *, lookup: bool, services: list[HttpService]) -> Tool:
    operation: dict[str, Any] = {
        "method": "POST", "path": "/set", "effect": "write", "parameters": {"percent": "integer"},
        "gives": {"id": "string"}, **({"lookup": "/effects/{key}"} if lookup else {}),
    }  # fmt: skip
    declared = {"kind": "http", "base": till.server.address, "allow_private": True, "operations": {"set": operation}}
    connection = read_connection(declared)
    assert isinstance(connection, HttpConnection)
    found: list[HttpOperation]
    service, found = http_capabilities("till", connection, settings=HttpSettings(timeout_s=20), secrets=Secrets({}))
    services.append(service)
    return cast(Tool, found[0])


class Stopped(CardGate):
    """Nobody says whether the effect happened."""

    async def in_doubt(self, request: EffectRequest) -> Waiting | bool:
        raise EffectInDoubt("the card expired")


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("step", PLANS)
async def test_a_service_that_can_be_asked_by_key_settles_what_its_answer_left_open(
    till: Open, answer: Answer, step: dict[str, Any]
) -> None:
    world, service = till(answer, lookup=True)

    report = await world.run(world.order(step))

    assert (report.state, report.output) == (OrderState.DONE, {"id": "d1"})
    assert [percent for _, percent in service.done] == [5]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("step", PLANS)
async def test_an_answer_that_nobody_can_read_waits_for_a_person_and_survives_the_resume_of_a_failed_order(
    till: Open, answer: Answer, step: dict[str, Any]
) -> None:
    world, service = till(answer, lookup=False)
    world.gate, world.reopen = Stopped(), True
    order = world.order(step)
    failed = await world.run(order)
    world.gate = CardGate()

    waiting = await world.run(order)

    assert failed.error is not None and failed.error.code == "EFFECT_IN_DOUBT"
    assert (waiting.state, waiting.waiting_for) == (OrderState.WAITING, tuple(world.gate.doubts))
    assert [percent for _, percent in service.done] == [5]


async def test_a_person_who_says_that_it_happened_ends_the_doubt(till: Open) -> None:
    world, service = till(AFTER_THE_EFFECT["garbage"], lookup=False)
    order = world.order(WITH_OTHERWISE)
    await world.run(order)
    (card,) = world.gate.doubts
    world.gate.decide(card, True)

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"confirmed_by_person": True})
    assert len(service.done) == 1


async def test_a_look_up_that_cannot_be_read_leaves_the_effect_to_a_person(till: Open) -> None:
    world, service = till(AFTER_THE_EFFECT["303"], lookup=True)
    answer = service.server.answer
    service.server.answer = lambda asked: Answer(status=403) if asked.method == "GET" else answer(asked)

    report = await world.run(world.order(WITH_OTHERWISE))

    assert report.waiting_for == tuple(world.gate.doubts)
    assert len(service.done) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
async def test_a_clear_no_leaves_no_doubt(till: Open, status: int) -> None:
    world, service = till(Answer(status=status), lookup=False)
    order = world.order(SET)

    report = await world.run(order)

    assert report.error is not None and report.error.facts["status"] == status
    assert (report.state, world.gate.doubts) == (OrderState.FAILED, {})
    assert not (await world.view(order)).changed_the_world
    assert len(service.server.asked) == 1


async def test_the_other_way_in_doubt_is_still_the_other_way_when_the_order_is_reopened(till: Open) -> None:
    """The first way was surely refused. Opened again, the doubt about the second is settled before anything is done."""
    world, service = till(Answer(status=409), AFTER_THE_EFFECT["garbage"], lookup=False)
    world.gate, world.reopen = Stopped(), True
    order = world.order(WITH_OTHERWISE)
    await world.run(order)
    world.gate = CardGate()

    await world.run(order)
    (card,) = world.gate.doubts
    world.gate.decide(card, True)
    report = await world.run(order)

    assert [(key.rpartition(":")[2], percent) for key, percent in service.done] == [("r1", 3)]
    assert report.state is OrderState.DONE
