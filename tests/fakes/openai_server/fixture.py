"""The server as a fixture: import the name into a `conftest.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.openai_server.server import OpenAIServer


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """A server without answers yet: give it some with `plays`, or let it be obliging with `otherwise = sensible`."""
    server = OpenAIServer()
    yield server
    server.stop()
