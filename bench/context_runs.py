"""One process carried out three ways: by the engine, with everything accumulated, and with what is old trimmed off.

All three call the same tools and are answered by the same script; what each request would have cost is counted by the
same tokenizer, tools included.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from context_process import Call, Process, Stage, text_of
from rig import OpenGate

from contracts import Effect, ExecutionId, Json, OrderId, OrderState, Parameter, PlanDefinition, TaskOrder, Usage
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.clock import SystemClock
from runtime.context.tokens import count
from runtime.engine.engine import Engine
from runtime.ledger import open_store
from runtime.ledger.port import Store
from runtime.model.port import ModelAnswer, ModelRequest, ToolCall
from runtime.settings import LedgerSettings
from runtime.settings.groups import EngineSettings
from runtime.telemetry.redaction import redact

WINDOW = 128_000
"""Tokens that the trimmed conversation may have."""
KEPT = 20
"""Messages that stay in the trimmed conversation, at most."""
COUNTED_AS = "gpt-4o"
"""Model whose tokenizer counts."""
OBJECTIVE = "Settle the late shipments of the week: what is held, why, what it costs, and which way each lot takes."
Message = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request, as it was sent."""

    step: str
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]]
    current: int
    """Tokens of it that are the present instruction and its inputs."""

    @property
    def tokens(self) -> int:
        return sum(map(of_message, self.messages)) + sum(tokens(text_of(tool)) for tool in self.tools)

    @property
    def shown(self) -> str:
        """All that its messages say."""
        return "\n".join(map(_said, self.messages))

    @property
    def text(self) -> str:
        """All that is sent, in the order in which endpoints read it."""
        return "\n".join(text_of(each) for each in (*self.tools, *self.messages))


@cache
def tokens(text: str) -> int:
    return count(text, COUNTED_AS).counted


def of_message(message: Message) -> int:
    return tokens(_said(message))


def _said(message: Message) -> str:
    return message["content"] + (text_of(message["tool_calls"]) if message.get("tool_calls") else "")


class Source:
    """A tool that gives what the process says for a key."""

    def __init__(self, name: str, results: Mapping[str, Any]) -> None:
        key = Parameter.model_validate({"type": "string", "description": "Which part of the week is asked for."})
        self.spec = CapabilitySpec(
            name=name, kind="builtin_tool", description=f"Returns what the {name.replace('_', ' ')} has.",
            parameters={"key": key}, gives={}, effect=Effect.READ,
        )  # fmt: skip
        self._results = results

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Give it."""
        return CallResult(output=self._results[str(arguments["key"])])


class Windowed:
    """What every model here tells of itself."""

    def most(self, request: ModelRequest) -> Usage:
        return Usage(tokens_in=10)

    def room(self, role: str) -> int:
        return WINDOW

    def name_of(self, role: str) -> str:
        return COUNTED_AS


@dataclass
class Script(Windowed):
    """The model of the engine: makes the calls of each step, notes what is to be noted, and ends it."""

    process: Process
    asked: list[Asked] = field(default_factory=list)
    _turns: dict[str, int] = field(default_factory=dict)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        stage = self._stage(request)
        turn = self._turns.get(stage.id, 0)
        self._turns[stage.id] = turn + 1
        self.asked.append(Asked(stage.id, request.messages, request.tools, of_message(_task_of(request))))
        return _answer(self.answer(stage, turn, request))

    def answer(self, stage: Stage, turn: int, request: ModelRequest) -> Sequence[tuple[str, Mapping[str, Json]]]:
        """Return the calls of an answer."""
        if turn == len(stage.turns):
            return [("step_control", {"say": "done", "output": self._output(stage, request)})]
        asked: list[tuple[str, Mapping[str, Json]]] = [(call.tool, {"key": call.key}) for call in stage.turns[turn]]
        noting = stage.insight is not None and turn == len(stage.turns) - 1
        if noting and any(tool["function"]["name"] == "working_memory" for tool in request.tools):
            asked.append(("working_memory", {"insight": stage.insight or ""}))
        return asked

    def _stage(self, request: ModelRequest) -> Stage:
        words = str(_task_of(request)["content"])
        return next(stage for stage in self.process.steps if f"Step {stage.id}: " in words)

    def _output(self, stage: Stage, request: ModelRequest) -> dict[str, Json]:
        if not is_read_whole(self.process, stage):
            return {"finding": stage.finding}
        return {"finding": stage.finding, "data": _passed_on(request, stage)}


def _passed_on(request: ModelRequest, stage: Stage) -> Json:
    """Return the first stored result by reference; where none was stored, the first result as it was read."""
    told = [json.loads(message["content"]) for message in request.messages if message["role"] == "tool"]
    stored = next((each["__refId"] for each in told if isinstance(each, dict) and each.get("__stored")), None)
    return {"__ref": stored} if stored else stage.turns[0][0].value


def is_read_whole(process: Process, stage: Stage) -> bool:
    """Whether a later step is given the data of this one."""
    return any(later.data_of == stage.id for later in process.steps)


def _task_of(request: ModelRequest) -> Message:
    return next(message for message in request.messages if message["role"] == "user")


def _answer(asked: Sequence[tuple[str, Mapping[str, Json]]]) -> ModelAnswer:
    return ModelAnswer("", [ToolCall(f"c{number}", *call) for number, call in enumerate(asked)], Usage(tokens_in=10))


def order(process: Process) -> TaskOrder:
    """Return the process as the plan of an order: a `react` step each, one after the other."""
    steps = []
    for number, stage in enumerate(process.steps):
        given = {f"found_{step}": f"{{{{ {step}.finding }}}}" for step in stage.reads}
        given |= {"data": f"{{{{ {stage.data_of}.data }}}}"} if stage.data_of else {}
        gives = {"finding": "string"} | ({"data": "any"} if is_read_whole(process, stage) else {})
        steps.append({
            "id": stage.id, "react": stage.task, "description": stage.task, "tools": stage.tools, "with": given,
            "gives": gives, "after": [process.steps[number - 1].id] if number else [], "iterations": 60,
        })  # fmt: skip
    return TaskOrder(
        order_id=OrderId.new(), execution_id=ExecutionId.new(), organisation="bench", employee="worker",
        issued_by="bench", objective=OBJECTIVE, requested_by="bench", trace_id="0" * 32,
        plan=PlanDefinition.model_validate({"steps": steps, "dispatch": "sequential"}),
    )  # fmt: skip


def engine(store: Store, process: Process, model: Any) -> Engine:
    """Return an engine that has the tools of the process and that model."""
    results, board = process.results(), _no_board()
    names = sorted({tool for stage in process.steps for tool in stage.tools})
    return Engine(
        store=store, router=Router(Registry([Source(name, results) for name in names])), gate=OpenGate(),
        clock=SystemClock(), settings=EngineSettings(), blackboard=board, delegate=None, leases=(),
        cancelled=lambda: False, redact=redact, model=model,
    )  # fmt: skip


def _no_board() -> Any:
    return None


async def by_engine(process: Process, script: Script, folder: Path) -> Sequence[Asked]:
    """Carry the process out in the engine; return its requests."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="context-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        report = await engine(store, process, script).run(order(process))
        await store.close()
    assert report.state is OrderState.DONE, report
    return script.asked


async def plainly(process: Process, ours: Sequence[Asked], *, trimmed: bool) -> Sequence[Asked]:
    """Carry the process out in one conversation; return its requests.

    It has the rules and the order of ours in its system prompt, but no plan; of the tools those of the present step,
    without the engine's own. What is noted are words of the model, and inputs are what was said before.
    """
    system = str(ours[0].messages[0]["content"]).split("\n\nPlan:")[0]
    said: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": OBJECTIVE}]
    declared = {asked.step: asked.tools for asked in ours}
    sources = {name: Source(name, process.results()) for stage in process.steps for name in stage.tools}
    context: Any = None  # of a call, which these tools do not look at
    requests = []
    for stage in process.steps:
        said.append({"role": "user", "content": f"Step {stage.id}: {stage.task}"})
        tools = [each for each in declared[stage.id] if each["function"]["name"] in stage.tools]
        instruction = tokens(said[-1]["content"])
        for number in range(len(stage.turns) + 1):
            seen = trim(said) if trimmed else list(said)
            there = [text for text in _inputs(process, stage) if any(text in each["content"] for each in seen)]
            requests.append(Asked(stage.id, seen, tools, instruction + sum(map(tokens, there))))
            calls = stage.turns[number] if number < len(stage.turns) else ()
            if not calls:
                said.append({"role": "assistant", "content": text_of({"finding": stage.finding})})
                continue
            told = [_called(call) for call in calls]
            noted = stage.insight if number == len(stage.turns) - 1 else None
            said.append({"role": "assistant", "content": noted or "", "tool_calls": told})
            for call in calls:
                given = await sources[call.tool].call({"key": call.key}, context)
                said.append({"role": "tool", "content": text_of(given.output), "tool_call_id": f"call_{call.key}"})
    return requests


def _called(call: Call) -> Message:
    function = {"name": call.tool, "arguments": text_of({"key": call.key})}
    return {"id": f"call_{call.key}", "type": "function", "function": function}


def _inputs(process: Process, stage: Stage) -> Iterator[str]:
    """Yield the inputs of a step as a conversation has them somewhere: the answers, and the data that is read."""
    by_id = {each.id: each for each in process.steps}
    yield from (by_id[step].finding for step in stage.reads)
    if stage.data_of:
        yield text_of(by_id[stage.data_of].turns[0][0].value)


def trim(said: Sequence[Message]) -> list[Message]:
    """Return the system prompt, the first message of the user, and the newest exchanges that number and window allow.

    An answer goes only together with the results of its calls; the newest exchange stays, however large it is.
    """
    pinned, exchanges = list(said[:2]), _exchanges(said[2:])
    left = WINDOW - sum(map(of_message, pinned))
    kept: list[Message] = []
    for exchange in reversed(exchanges):
        left -= sum(map(of_message, exchange))
        if kept and (left < 0 or len(kept) + len(exchange) > KEPT):
            break
        kept = [*exchange, *kept]
    return [*pinned, *kept]


def _exchanges(said: Sequence[Message]) -> list[list[Message]]:
    found: list[list[Message]] = []
    for message in said:
        if message["role"] == "tool":
            found[-1].append(message)
        else:
            found.append([message])
    return found
