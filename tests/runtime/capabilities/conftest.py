from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.http_service import Answer, Asked, HttpService


@pytest.fixture
def serve() -> Iterator[Callable[..., HttpService]]:
    """Return what starts a local HTTP service that gives one fixed answer, or what is reckoned from the request."""
    servers: list[HttpService] = []

    def start(answer: Callable[[Asked], Answer] | None = None, **fixed: Any) -> HttpService:
        servers.append(HttpService(answer or (lambda asked: Answer(**fixed))))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
