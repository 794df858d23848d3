"""What the events of a conversation say, one small function for each type of event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from contracts import EvidenceId, Money, Problem, Usage, asked_id
from runtime.context.compaction import Compaction
from runtime.context.memory import Insight
from runtime.engine.fold_below import count_below, end_part
from runtime.engine.happened import Data, Happened
from runtime.engine.react.state import Call, React, Turn
from runtime.engine.result import Result
from runtime.engine.states import UnitState
from runtime.engine.view import Intent, OrderView, Unit
from runtime.errors import surely_not
from runtime.model.port import Ending


def begin_anew(unit: Unit) -> None:
    """Forget a conversation that a revision of the plan ended; its answers keep their numbers."""
    if unit.react is not None:
        unit.react = React(before=unit.react.number, since=unit.react.number, offered=unit.react.offered)


def go_on(unit: Unit) -> None:
    """Let a conversation go on after its order was reopened."""
    if unit.react is not None:
        unit.react.since = unit.react.number
        unit.react.unreachable = 0
        for call in unit.react.calls:
            call.doubts = ()  # whoever looks again may ask again


def take_denied(waiting: Unit | Call, data: Data) -> None:
    """Note whether it waits since the other side did not let us in: its effect is then judged anew by the gate."""
    waiting.denied = waiting.waiting if data.get("denied") else ()
    if waiting.denied:
        waiting.approved = waiting.intent.card if waiting.intent is not None else waiting.approved
        waiting.intent = None


def _conversation(view: OrderView, data: Data) -> tuple[Unit, React]:
    unit = view.unit(data["step"], data.get("index"))
    if unit.react is None:
        unit.react = React()
    return unit, unit.react


def _call(view: OrderView, data: Data) -> tuple[Unit, Call]:
    unit, react = _conversation(view, data)
    call = react.call(data["call"])
    if call is None:  # the answer that named it was erased; what was done for it still counts
        answer, number = map(int, data["call"].split(":")[-2:])
        call = Call(data["call"], unit.step, unit.index, number, data.get("use", ""), {})
        react.turns.append(Turn(answer, "", [call]))
    return unit, call


def _answered(view: OrderView, event: Happened, data: Data) -> None:
    unit, react = _conversation(view, data)
    number = data["answer"]
    calls = [
        Call(each["id"], unit.step, unit.index, place, each["name"], each.get("arguments") or {}, each.get("fault", ""))
        for place, each in enumerate(data.get("calls", ()), 1)
    ]
    ending = Ending(data.get("ending", Ending.DONE))
    react.turns.append(Turn(number, data.get("content", ""), calls, data.get("answer_sha256"), ending=ending))
    react.unreachable = 0
    react.squeezed = max(react.squeezed, data.get("squeezed", 0))
    view.spend(event.stream_version, unit, Usage.read(data.get("usage", {})))


def _unreachable(view: OrderView, event: Happened, data: Data) -> None:
    unit, react = _conversation(view, data)
    react.unreachable += 1
    _lost(view, event, unit, data)


def _stopped(view: OrderView, event: Happened, data: Data) -> None:
    unit, _ = _conversation(view, data)
    _lost(view, event, unit, data)


def _lost(view: OrderView, event: Happened, unit: Unit, data: Data) -> None:
    """Count what a request took that no answer came to; ledgers of earlier versions do not tell."""
    if "usage" in data:
        view.spend(event.stream_version, unit, Usage.read(data["usage"]))


def _refused(view: OrderView, event: Happened, data: Data) -> None:
    _, react = _conversation(view, data)
    turn = react.turns[-1]
    turn.refused = Problem.read(data["problem"])


def _intended(view: OrderView, event: Happened, data: Data) -> None:
    _, call = _call(view, data)
    call.intent = Intent(
        data["key"], data["use"], data["arguments_sha256"], data["capability_sha256"], data.get("card"),
        instance=data.get("instance"),
    )  # fmt: skip
    call.waiting, call.doubts, call.denied = (), (), ()
    if "reserved" in data:
        view.unit(data["step"], data.get("index")).reserved[call.id] = tuple(map(Money.read, data["reserved"]))


def _offered(view: OrderView, event: Happened, data: Data) -> None:
    _, react = _conversation(view, data)
    react.offered = tuple(data["skills"])


def _opened(view: OrderView, event: Happened, data: Data) -> None:
    _, react = _conversation(view, data)
    react.opened, react.opened_sha256 = data.get("parts"), data.get("parts_sha256")


def _condensed(view: OrderView, event: Happened, data: Data) -> None:
    unit, react = _conversation(view, data)
    react.condensed[data["ref"]] = data["text"]
    view.spend(event.stream_version, unit, Usage.read(data.get("usage", {})))


def _compacted(view: OrderView, event: Happened, data: Data) -> None:
    unit, react = _conversation(view, data)
    react.compaction_sha256 = data.get("state_sha256")
    if "state" in data:
        react.compaction = Compaction.model_validate(data["state"])
    view.spend(event.stream_version, unit, Usage.read(data.get("usage", {})))


def _noted(view: OrderView, event: Happened, data: Data) -> None:
    view.insights.append(Insight(data["by"]["step"], data["text"]))


def _waiting(view: OrderView, event: Happened, data: Data) -> None:
    unit, call = _call(view, data)
    if "usage" in data:
        count_below(view, event, unit.part(call.id), data)
    call.waiting = tuple(asked_id(each) for each in data["ids"])
    if data.get("in_doubt"):
        call.doubts = call.waiting
    take_denied(call, data)


def _finished(view: OrderView, event: Happened, data: Data) -> None:
    unit, call = _call(view, data)
    _named(call, data)
    call.result = result = Result.from_data(data, event.time)
    call.shown, call.length = data.get("shown", ""), data.get("length", 0)
    call.told, call.whole_of, call.refs = data.get("told", ""), data.get("whole_of", ""), tuple(data.get("refs", ()))
    call.stored = bool(data.get("stored")) or result.output_sha256 is not None
    _stop_waiting(unit, call)
    unit.reserved.pop(call.id, None)
    if call.id in unit.parts:
        end_part(unit.part(call.id), UnitState.DONE)
        view.seal(event.stream_version, result.sealed)
        view.use(event.stream_version, result.uses)
    if result.artifacts:
        view.artifacts[event.stream_version] = result.artifacts
    view.spend(event.stream_version, unit, Usage.read(data.get("usage", {})))


def _shared(view: OrderView, event: Happened, data: Data) -> None:
    unit, call = _call(view, data)
    _named(call, data)
    call.same_as = data["same_as"]
    first = unit.react.call(data["same_as"]) if unit.react else None
    if first is not None:
        call.result, call.shown, call.length = first.result, first.shown, first.length
        call.told, call.whole_of, call.stored = first.told, first.whole_of, first.stored
        call.failures = list(first.failures)
    call.failed = call.result is None


def _failed(view: OrderView, event: Happened, data: Data) -> None:
    unit, call = _call(view, data)
    problem = Problem.read(data["problem"])
    call.failures.append(problem)
    call.failed = bool(data.get("final"))
    _named(call, data)
    _stop_waiting(unit, call)
    if call.failed and call.id in unit.parts:
        end_part(unit.part(call.id), UnitState.FAILED)
        call.happened_below = bool(data.get("happened"))
        view.happened = view.happened or call.happened_below
        view.seal(event.stream_version, [EvidenceId(name) for name in data.get("sealed", ())])
    if call.failed or surely_not(problem.facts):
        unit.reserved.pop(call.id, None)
    if "usage" in data:
        view.spend(event.stream_version, unit, Usage.read(data["usage"]))
    if call.intent is not None:
        call.intent = replace(call.intent, open=call.intent.open and not surely_not(problem.facts))


def _named(call: Call, data: Data) -> None:
    call.use, call.arguments_sha256 = data.get("use"), data.get("arguments_sha256")


def _stop_waiting(unit: Unit, call: Call) -> None:
    unit.waiting = tuple(each for each in unit.waiting if each not in call.waiting)
    call.waiting, call.denied = (), ()


HANDLERS: Mapping[str, Callable[[OrderView, Happened, Data], None]] = {
    "tools.offered": _offered,
    "context.opened": _opened,
    "insight.noted": _noted,
    "context.compacted": _compacted,
    "context.condensed": _condensed,
    "model.answered": _answered,
    "model.unreachable": _unreachable,
    "model.stopped": _stopped,
    "answer.refused": _refused,
    "call.intended": _intended,
    "call.waiting": _waiting,
    "call.finished": _finished,
    "call.shared": _shared,
    "call.failed": _failed,
}
