"""What the parts of one conversation share while it goes on in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from contracts import CapabilityName, Json, Step
from runtime.canonical import clean, sha256
from runtime.context.budget import Squeeze
from runtime.context.bus import Input
from runtime.context.compaction import Compaction
from runtime.context.parts import Part
from runtime.engine.context import Run
from runtime.engine.react.control import CONTROL
from runtime.engine.react.state import Call, React, Turn
from runtime.engine.react.tools import Toolbox
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.errors import InvalidArguments


@dataclass(slots=True)
class Talk:
    """One unit that reasons with a model."""

    run: Run
    step: Step
    unit: Unit
    scope: Scope
    box: Toolbox
    task: str
    """What the model is asked to do, bindings filled in."""
    started_at: datetime
    squeeze: Squeeze = Squeeze.NOTHING
    """What gives way in the next request."""
    inputs: Sequence[Input] = ()
    """What the model reads of the step's arguments."""
    opening: Sequence[Part] = ()
    """What stands in the system prompt beside the platform's rules."""
    _keys: dict[str, tuple[CapabilityName, str] | None] = field(default_factory=dict)

    @property
    def react(self) -> React:
        """The conversation as the ledger has it."""
        if self.unit.react is None:
            return React()
        return self.unit.react

    def event(self, **facts: Any) -> dict[str, Any]:
        """Return the data of an event of this unit."""
        return {**self.unit.place, **facts}

    def of_call(self, call: Call, **facts: Any) -> dict[str, Any]:
        """Return the data of an event of one of its calls."""
        return self.event(call=call.id, **facts)

    def key_of(self, call: Call) -> tuple[CapabilityName, str] | None:
        """Return capability and hash of the arguments; None for a call that cannot be made."""
        if call.id not in self._keys:
            self._keys[call.id] = self._key_of(call)
        return self._keys[call.id]

    def _key_of(self, call: Call) -> tuple[CapabilityName, str] | None:
        if call.use is not None and call.arguments_sha256 is not None:
            return call.use, call.arguments_sha256
        if call.name == CONTROL:
            return None
        try:
            spec = self.box.spec_for(call)
            return spec.name, sha256(clean(self.box.arguments_for(spec, call)))
        except InvalidArguments:
            return None


async def recall_answers(run: Run, react: React) -> None:
    """Bring in what of the conversation is long and kept in the blob store."""
    for turn in react.turns:
        if turn.answer_sha256 is not None and not turn.whole:
            take_in(turn, json.loads(await run.blobs.get(turn.answer_sha256)))
    if react.compaction_sha256 is not None:
        told = json.loads(await run.blobs.get(react.compaction_sha256))
        react.compaction, react.compaction_sha256 = Compaction.model_validate(told), None


async def output_of(run: Run, call: Call) -> Json:
    """Return the whole of what a call gave."""
    assert call.result is not None
    if call.result.output_sha256 is None:
        return call.result.output
    return cast(Json, json.loads(await run.blobs.get(call.result.output_sha256)))


def take_in(turn: Turn, answer: Mapping[str, Any]) -> None:
    """Fill in the words and arguments of an answer that its event left out."""
    turn.content = answer["content"]
    for call, told in zip(turn.calls, answer["calls"], strict=True):
        call.arguments = told["arguments"]
    turn.whole = True
