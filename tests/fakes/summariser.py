"""A model that condenses memories as it is told to, and counts what it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from contracts import Usage
from runtime.model.port import ModelAnswer, ModelRequest

Told = Callable[[Sequence[tuple[str, str]]], Sequence[dict[str, Any]]]
_LINE = re.compile(r"^([met]\d+)(?: \([^)]*\))?: (.*)$")


class Summariser:
    """Answers each request with what `told` makes of its labelled lines; exceptions in `fails` are raised first."""

    def __init__(self, told: Told, *, field: str = "lines") -> None:
        self.told = told
        self.field = field
        self.requests: list[ModelRequest] = []
        self.fails: list[Exception] = []

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        if self.fails:
            raise self.fails.pop(0)
        body = str(request.messages[1]["content"]).split("\n")[1:-1]
        labelled = [match.groups() for line in body if (match := _LINE.match(line))]
        content = json.dumps({self.field: list(self.told([(a, b) for a, b in labelled]))})
        return ModelAnswer(content, usage=Usage(tokens_in=sum(map(len, body)) // 4, tokens_out=len(content) // 4))


def one_each(theme: str = "Environment") -> Told:
    """A line for each memory, in its own words."""
    return lambda labelled: [
        {"theme": theme, "text": text, "from": [name]} for name, text in labelled if name.startswith("m")
    ]


def all_in_one(text: str, theme: str = "Environment") -> Told:
    """One line for everything there is."""
    return lambda labelled: [{"theme": theme, "text": text, "from": [name for name, _ in labelled]}]
