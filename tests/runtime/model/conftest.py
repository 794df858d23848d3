"""Endpoints for the suites of the model."""

from tests.fakes.openai_server.fixture import openai_server

__all__ = ["openai_server"]
