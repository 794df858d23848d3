"""The server and the official client that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import openai
import pytest

from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.server import OpenAIServer

__all__ = ["client", "openai_server"]


@pytest.fixture
async def client(openai_server: OpenAIServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=openai_server.base_url, api_key="sk-canary", max_retries=0, timeout=60
    ) as client:
        yield client
