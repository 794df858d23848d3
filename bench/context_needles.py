"""Part *needles* of `bench/context.py`: which of the planted facts the last step can still get at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from context_process import Fact, Stage
from context_runs import Asked, Script

from contracts import Json
from runtime.canonical import sha256
from runtime.context.inspect import INSPECT
from runtime.model.port import ModelRequest

AT_ONCE = 5
"""Searches of one answer: few, so that what they give fits into the prompt."""
SEARCH = "search"
assert SEARCH in INSPECT


def in_prompt(facts: Iterable[Fact], shown: str) -> set[str]:
    """Return the subjects of those whose whole text a prompt shows."""
    return {fact.subject for fact in facts if fact.text in shown}


def share(facts: Sequence[Fact], found: set[str]) -> float:
    return round(sum(fact.subject in found for fact in facts) / len(facts), 3)


@dataclass
class Searching(Script):
    """In the last step, looks for each fact that the prompt does not show, by one call, where the step can do that."""

    reached: set[str] = field(default_factory=set)
    _left: Iterator[tuple[str, Mapping[str, Json]]] | None = None

    def answer(self, stage: Stage, turn: int, request: ModelRequest) -> Sequence[tuple[str, Mapping[str, Json]]]:
        if stage is not self.process.steps[-1]:
            return super().answer(stage, turn, request)
        self.reached |= in_prompt(self.process.facts, Asked(stage.id, request.messages, (), 0).shown)
        if self._left is None:
            self._left = iter(list(self._searches(request)))
        return list(islice(self._left, AT_ONCE)) or super().answer(stage, len(stage.turns), request)

    def _searches(self, request: ModelRequest) -> Iterator[tuple[str, Mapping[str, Json]]]:
        """Yield a call for each fact that is not in the prompt: in its data, where the prompt has the reference.

        A `search` that needs no reference looks through everything, and is called for all of them.
        """
        offered = [tool["function"] for tool in request.tools if tool["function"]["name"] == SEARCH]
        shown = Asked("", request.messages, (), 0).shown
        for fact in self.process.facts if offered else ():
            if fact.subject in self.reached:
                continue
            ref = next((each for each in self._data_of(fact) if each in shown), None)
            if ref is not None:
                yield SEARCH, {"ref": ref, "query": fact.subject}
            elif "ref" not in offered[0]["parameters"]["required"]:
                yield SEARCH, {"query": fact.subject}

    def _data_of(self, fact: Fact) -> Iterator[str]:
        """Yield the references of what has the fact: a result, or the output of its step."""
        stage = next(stage for stage in self.process.steps if stage.id == f"s{fact.step:02}")
        for turn in stage.turns:
            yield from (sha256(call.value) for call in turn if fact.text in json.dumps(call.value, ensure_ascii=False))
        yield sha256({"finding": stage.finding})
