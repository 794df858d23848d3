"""Two processes, one limit of requests to models: measured where the requests arrive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.model import says
from tests.fakes.model_asker import Asker
from tests.fakes.openai_server.script import slow
from tests.fakes.openai_server.server import OpenAIServer, obliging
from tests.servers import Redis, redis_server
from tests.stores import lay_empty_ledger

__all__ = ["redis_server"]
AT_ONCE = 2
Pair = tuple[Asker, Asker]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    server = obliging()
    yield server
    server.stop()


@pytest.fixture
def askers(tmp_path: Path, server: OpenAIServer, redis_server: Redis) -> Iterator[Pair]:
    """Two processes that know the endpoint already; from now on each answer takes a while."""
    lay_empty_ledger(tmp_path)
    with ExitStack() as running:
        one, other = (
            running.enter_context(Asker(tmp_path, server.base_url, redis_server.url, AT_ONCE)) for _ in range(2)
        )
        assert all_ask((one, other), 1) == 2
        server.otherwise = slow(says("Done."), seconds=0.05)
        yield one, other


def all_ask(askers: Pair, times: int) -> int:
    """Let both ask at the same time; return how many answers came in all."""
    for asker in askers:
        asker.asks(times)
    return sum(asker.got() for asker in askers)


def test_two_processes_never_ask_more_at_once_than_one_may(askers: Pair, server: OpenAIServer) -> None:
    assert server.most_at_once <= AT_ONCE, "also while the endpoint is found out about"
    assert all_ask(askers, 8) == 16
    assert server.most_at_once == AT_ONCE


def test_redis_may_go_and_come_back_and_nothing_is_lost(
    askers: Pair, server: OpenAIServer, redis_server: Redis
) -> None:
    redis_server.kill()
    assert all_ask(askers, 8) == 16
    assert AT_ONCE <= server.most_at_once <= 2 * AT_ONCE, "each keeps the limit by itself"
    assert all(asker.said.count("Redis is away") == 1 for asker in askers)

    redis_server.start()
    while not all("Redis answers again" in asker.said for asker in askers):
        all_ask(askers, 1)
    server.most_at_once = 0
    assert all_ask(askers, 8) == 16
    assert server.most_at_once == AT_ONCE


def test_redis_may_go_while_requests_are_under_way(askers: Pair, server: OpenAIServer, redis_server: Redis) -> None:
    for asker in askers:
        asker.asks(8)
    asked = server.count()
    server.wait_until(lambda: server.count() >= asked + 3)
    redis_server.kill()
    assert sum(asker.got() for asker in askers) == 16
    assert server.most_at_once <= 2 * AT_ONCE
