"""What `silicon doctor` says of tools: with which ones models get the arguments wrong, by the newest executions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from console.views import Examined, Health
from contracts import ErrorCategory, ExecutionId
from runtime.ledger.port import Ledger

EXECUTIONS, EVENTS = 20, 2_000
"""How many of the newest executions are looked at, and how many events of each at most."""
TOLD = 5
_CALLED, _FAILED = "call.finished", "call.failed"


async def tools_of(ledger: Ledger) -> list[Examined]:
    """Return the tools that models call wrongly most often; nothing where none was called by a model."""
    wrong: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for stream in await ledger.newest_streams("execution", limit=EXECUTIONS):
        for event in await ledger.read_execution(ExecutionId(stream), limit=EVENTS):
            data: Any = event.data or {}
            if event.type == _CALLED and data.get("use"):
                calls[data["use"]] += 1
            elif event.type == _FAILED and (tool := _called_wrongly(data["problem"])):
                wrong[tool] += 1
                calls[tool] += 1
    if not calls:
        return []
    worst = sorted(wrong.items(), key=lambda one: (-one[1], one[0]))[:TOLD]
    facts: Any = {name: {"wrong": count, "calls": calls[name]} for name, count in worst}
    if not wrong:
        return [Examined("tools", Health.GOOD, "models call them with arguments that fit", facts=facts)]
    told = ", ".join(f"{name} {count} of {calls[name]}" for name, count in worst)
    what = f"calls by models whose arguments did not fit, in the {EXECUTIONS} newest executions: {told}"
    mend = "Say in the description of a parameter what it takes, with an example; offer a step only the tools it needs."
    return [Examined("tools", Health.NOTE, what, mend, facts)]


def _called_wrongly(problem: Any) -> str:
    """Return the tool of a call whose arguments did not fit, or which does not exist; empty for any other failure."""
    if problem.get("category") != ErrorCategory.INVALID_ARGUMENTS:
        return ""
    facts = problem.get("facts") or {}
    return str(facts.get("use") or "(no such tool)")
