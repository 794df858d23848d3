"""A report's call, with the output of two steps as its data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.employee.report.capability import ReportCapability, Written
from contracts import ExecutionId, OrderId, PlanDefinition, Step, TaskOrder
from runtime.capabilities.port import CallContext, Origin

KNOWN_AT = datetime(2013, 2, 8, 22, tzinfo=UTC)
OUTPUTS: dict[str, Any] = {
    "analyst/measure": {
        "rows": [
            {"origin": "EWR", "cancelled": 204, "rate": 0.5, "note": None},
            {"origin": "JFK", "cancelled": 140, "rate": 0.4375, "note": "a|b <b>x</b> `c` [l](http://e.vil) &lt;"},
        ],
        "total": 344,
        "share": 0.4725,
    },
    "analyst/weather": {"wind": None, "gust": 41.4, "空港": 3},
}
WORDS = {"report-missing": "missing", "report-sources": "Sources"}


def say(key: str, /, **facts: object) -> str:
    """A catalogue that answers with the key itself where it has no text."""
    return WORDS.get(key, key) + "".join(f" {fact}" for fact in facts.values())


def order(language: str = "en") -> TaskOrder:
    return TaskOrder(
        order_id=OrderId.new(), execution_id=ExecutionId.new(), organisation="airports", employee="desk",
        issued_by="ann", objective="Explain", plan=PlanDefinition(steps=(Step(id="write", use="report"),)),
        requested_by="ann", known_at=KNOWN_AT, language=language, trace_id="t",
    )  # fmt: skip


def context(language: str = "en") -> CallContext:
    origins = {
        "flights": Origin("analyst/measure", "", "a" * 64, "b" * 64, "c" * 64),
        "sky": Origin("analyst/weather", "", "d" * 64, "e" * 64, None),
        "picked.rate": Origin("analyst/measure", "rows[1].rate", "a" * 64),
        "rates": Origin("analyst/measure", "rows[*].rate", "a" * 64),
    }
    return CallContext(
        order=order(language), step="write", key="k", attempt=1, now=datetime.now(UTC), origins=origins
    )  # fmt: skip


def arguments(template: Any) -> dict[str, Any]:
    flights = OUTPUTS["analyst/measure"]
    return {
        "template": template, "title": "Cancellations", "flights": flights, "sky": OUTPUTS["analyst/weather"],
        "picked": {"rate": flights["rows"][1]["rate"]}, "rates": [row["rate"] for row in flights["rows"]],
    }  # fmt: skip


@pytest.fixture
def capability() -> ReportCapability:
    return ReportCapability(lambda _: say)


@pytest.fixture
def write(capability: ReportCapability) -> Callable[..., Written]:
    def write(template: Any, language: str = "en") -> Written:
        return capability.write(arguments(template), context(language))

    return write


@pytest.fixture
def body(write: Callable[..., Written]) -> Callable[[str], str]:
    """The filled template without its list of sources."""
    return lambda template: write(template).files[0].data.decode().split("\n\n## Sources")[0].strip()
