"""Models that answer from a script and remember every request; like endpoints, they take no broken conversation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from contracts import Json, Usage
from runtime.model.port import ModelAnswer, ModelRequest, ToolCall
from runtime.model.requests import check

Scripted = ModelAnswer | Exception | Callable[[ModelRequest], ModelAnswer]


class ScriptedModel:
    """Gives the answers in turn, one for each request; exceptions among them are raised."""

    def __init__(self, *answers: Scripted) -> None:
        self.left = list(answers)
        self.requests: list[ModelRequest] = []

    def most(self, request: ModelRequest) -> Usage:
        return Usage(tokens_in=10)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        check(request.messages)
        self.requests.append(request)
        if not self.left:
            raise AssertionError("the model was asked once more than the script has answers")
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelAnswer) else answer(request)

    @property
    def told(self) -> list[dict[str, Any]]:
        """What the tools and the engine said to the model, in the newest request."""
        return [
            dict(m) for m in self.requests[-1].messages if m["role"] == "tool" or m is self.requests[-1].messages[-1]
        ]


def calls(*asked: tuple[str, Mapping[str, Json]], content: str = "") -> ModelAnswer:
    """Return an answer that calls tools; every call gets the same id, as bad endpoints give it."""
    return ModelAnswer(content, [ToolCall("call_x", name, arguments) for name, arguments in asked], Usage(tokens_in=10))


def control(say: str, **arguments: Json) -> ModelAnswer:
    """Return an answer that says how the step stands."""
    return calls(("step_control", {"say": say, **arguments}))


def done(**output: Json) -> ModelAnswer:
    """Return an answer that ends the step with this output."""
    return control("done", output=output)


def says(output: Json) -> ModelAnswer:
    """Return an answer of words: the text itself, or the JSON of anything else."""
    return ModelAnswer(output if isinstance(output, str) else json.dumps(output), usage=Usage(tokens_out=5))


class PlayedModel:
    """Gives the answer that belongs to how far the conversation is, again when it is asked again."""

    def __init__(self, *answers: ModelAnswer) -> None:
        self._answers = answers
        self.asked: Counter[int] = Counter()
        self.requests: list[ModelRequest] = []

    def most(self, request: ModelRequest) -> Usage:
        return Usage(tokens_in=10)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        check(request.messages)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        self.asked[turn] += 1
        self.requests.append(request)
        return self._answers[turn]
