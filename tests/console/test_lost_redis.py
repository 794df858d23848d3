"""A run with a model while the Redis that limits its requests goes away and comes back: it goes on and says so."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from console.starter.make import make
from runtime.model.limits import AWAY_S
from runtime.model.port import ModelAnswer
from tests.fakes.model import calls, says
from tests.fakes.openai_server.asked import Asked
from tests.fakes.openai_server.script import Reply, slow
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging
from tests.servers import Redis, redis_server
from tests.silicon import warm_silicon

__all__ = ["redis_server"]
GOAL = "Compare last month with this one, then write to the supplier and prepare an order."
PLAN = calls(("propose_plan", {"steps": [{"id": "look", "skill": "review-week"}]}))
WRONG = calls(("propose_plan", {"steps": [{"id": "look", "skill": "rob-the-bank"}]}))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    server = obliging()
    yield server
    server.stop()


class Shop:
    """A starter organisation with a model and a Redis."""

    def __init__(self, folder: Path, server: OpenAIServer, redis: Redis) -> None:
        self.home, self.folder = folder / "home", folder / "bakery"
        make(self.folder)
        self._environment = {
            **os.environ, "SILICON_HOME": str(self.home), "OPENAI_BASE_URL": server.base_url,
            "SILICON_MODEL__REASON": MODEL, "SILICON_BUS__URL": redis.url,
        }  # fmt: skip

    def silicon(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [warm_silicon(), *arguments, "--json"], env=self._environment, cwd=self.folder.parent,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @property
    def log(self) -> str:
        file = self.home / "log.jsonl"
        return file.read_text() if file.exists() else ""


@pytest.fixture
def shop(tmp_path: Path, server: OpenAIServer, redis_server: Redis) -> Shop:
    shop = Shop(tmp_path, server, redis_server)
    shop.silicon("doctor", str(shop.folder))  # the endpoint is known from then on
    return shop


def test_the_run_goes_on_with_its_own_limit_and_nothing_is_lost(
    shop: Shop, server: OpenAIServer, redis_server: Redis
) -> None:
    def while_it_goes(asked: Asked) -> ModelAnswer:
        redis_server.kill()
        return WRONG

    server.plays(while_it_goes, PLAN)
    before = server.count()
    ended = shop.silicon("run", str(shop.folder), GOAL, "--mode", "plan")

    assert (ended["state"], bool(ended["cards"]), server.count() - before) == ("waiting", True, 2)
    assert "each process limits its requests to models by itself" in shop.log
    assert shop.silicon("audit", "verify")["faults"] == []


def test_a_redis_that_is_back_is_shared_again(shop: Shop, server: OpenAIServer, redis_server: Redis) -> None:
    places: list[bytes] = []

    def goes(asked: Asked) -> ModelAnswer:
        redis_server.kill()
        return WRONG

    def comes_back(asked: Asked) -> Reply:
        redis_server.start()
        return slow(WRONG, seconds=AWAY_S + 0.1)

    def looks(asked: Asked) -> ModelAnswer:
        places.append(redis_server.ask("KEYS silicon:*:models"))
        return says("I do not know.")

    server.plays(goes, comes_back, looks)
    shop.silicon("run", str(shop.folder), GOAL, "--mode", "plan")

    assert [b":models" in each for each in places] == [True], "the last request held a place that all processes see"
    assert "Redis answers again" in shop.log
