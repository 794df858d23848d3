"""One execution as faces show it, with its card, question, tree and events: what the fake application answers with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from console.views import (
    CardStanding,
    CardState,
    ExecutionOutcome,
    ExecutionTree,
    Found,
    OrderNode,
    Product,
    StepNode,
    StepState,
)
from contracts import (
    Action,
    CardId,
    CardKind,
    Confidence,
    DecisionCard,
    Effect,
    ErrorCategory,
    Event,
    EventId,
    EvidenceItem,
    EvidenceKind,
    ExecutionId,
    Grain,
    MetricDefinition,
    Money,
    Notification,
    NotificationId,
    Option,
    OrderId,
    OrderState,
    Problem,
    Question,
    QuestionId,
    TokenId,
    Usage,
)
from governance.access import Token

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HASH = "a3f1" * 16
EXECUTION = ExecutionId("execution/01JB0000000000000000000XEC")
ROOT = OrderId("order/01JB0000000000000000000RDR")
CHILD = OrderId("order/01JB0000000000000000000CHD")
CARD = CardId("card/01JB0000000000000000000CRD")
QUESTION = QuestionId("question/01JB0000000000000000000QST")
TOKEN = TokenId("token/01JB0000000000000000000TKN")


def a_card() -> DecisionCard:
    """Return a card with an irreversible option and with doing nothing."""
    waive = Action(
        by="notifier",
        use="desk.waive_fees",
        arguments={"flights": 472, "airports": ["EWR", "JFK"]},
        effect=Effect.IRREVERSIBLE,
        capability_sha256=HASH,
    )
    return DecisionCard(
        card_id=CARD,
        kind=CardKind.CHOICE,
        execution_id=EXECUTION,
        order_id=ROOT,
        step="choose",
        organisation="three-airports",
        question={"en": "What is done for the passengers?", "zh": "要为旅客做什么？"},
        impact={"en": "472 of 930 flights are cancelled.", "zh": "930 个航班中已取消 472 个。"},
        options=(
            Option(
                id="waive",
                title={"en": "Waive rebooking fees", "zh": "免除改签费"},
                benefit="Passengers rebook today.",
                risk="Seats fill up.",
                cost="Fees are lost.",
                reversible=False,
                confidence=Confidence.HIGH,
                actions=(waive,),
            ),
            Option(
                id="nothing",
                title={"en": "Do nothing now", "zh": "暂时不做"},
                benefit="Nothing is spent.",
                risk="Passengers learn it at the gate.",
                cost="None.",
                reversible=True,
                confidence=Confidence.HIGH,
            ),
        ),
        facts={"cancel_rate": {"value": 0.5075, "source": "analyst/measure"}},
        policy="money",
        who=("duty-managers",),
        requested_by="duty-planner",
        raised_at=NOW,
        deadline=NOW + timedelta(hours=2),
    )


def standing(**changes: Any) -> CardStanding:
    """Return the open card, with changes."""
    card = a_card()
    open_ = CardStanding(
        card, CardState.OPEN, who=card.who, deciders=("duty-manager", "night-manager"), deadline=card.deadline
    )
    return replace(open_, **changes)


def outcome(**changes: Any) -> ExecutionOutcome:
    """Return an execution that waits for the card, with changes."""
    return replace(
        ExecutionOutcome(
            EXECUTION,
            "three-airports",
            "Why were so many flights cancelled?",
            "explain-cancellations",
            OrderState.WAITING,
            findings=(Found("weather", "Weather at all three airports explains the cancellations.", Confidence.HIGH),),
            products=(
                Product("Cancellations of 2013-02-08", "report", Path("/home/x/.silicon/products/report.md"), HASH),
            ),
            cards=(standing(),),
            usage=Usage(seconds=4.2, steps=12, money=(Money.parse("0.03 USD"),)),
        ),
        **changes,
    )


def a_token() -> Token:
    """Return a token of a person."""
    return Token(TOKEN, "night report", HASH, NOW, "operator", "three-airports", "duty-planner")


def a_notification() -> Notification:
    """Return what Morgan was told."""
    return Notification(
        notification_id=NotificationId.under("acme", "delays"), execution_id=EXECUTION, order_id=ROOT, step="tell",
        organisation="acme", employee="analyst", to=("morgan",), text="Delays \x1b[31mrise.", key="delays", sent_at=NOW,
    )  # fmt: skip


def a_question() -> Question:
    """Return an open question."""
    return Question(
        question_id=QUESTION,
        execution_id=EXECUTION,
        order_id=ROOT,
        step="ask",
        text="Which day?",
        choices=("yes", "no"),
        asked_at=NOW,
    )


def tree(**changes: Any) -> ExecutionTree:
    """Return the tree of an execution: a step with numbers, a delegated one, a failed, a skipped and a waiting one."""
    item = EvidenceItem(kind=EvidenceKind.ROWS, at=NOW, step="measure", sha256=HASH)
    do = StepNode(
        "do",
        StepState.DONE,
        use="flights.query",
        seconds=0.2,
        attempts=2,
        output={"rows": [1, 2], "rate": 0.5075},
        result_sha256=HASH,
        query_sha256=HASH,
        data_sha256=HASH,
        evidence=(item,),
    )
    child = OrderNode(
        CHILD,
        "analyst",
        "Flight analyst",
        "Count",
        OrderState.DONE,
        seconds=0.3,
        slot="slot/1 rlimits",
        steps=(do,),
        seals=(HASH,),
    )
    steps = (
        StepNode("measure", StepState.DONE, seconds=0.3, output={"rows": [1, 2], "rate": 0.5075}, orders=(child,)),
        StepNode(
            "weather",
            StepState.FAILED,
            use="weather.query",
            seconds=1.5,
            problem=Problem(
                code="NETWORK_FAULT", category=ErrorCategory.NETWORK, message="The service does not answer."
            ),
        ),
        StepNode("notify", StepState.SKIPPED, why="choose.outcome == 'approved' is false"),
        StepNode("choose", StepState.WAITING, use="advise", waiting_for=(str(CARD),)),
    )
    root = OrderNode(
        ROOT,
        "operations-head",
        "Operations head",
        "Why?",
        OrderState.WAITING,
        skill="explain-cancellations",
        seconds=4.2,
        steps=steps,
    )
    shown = ExecutionTree(outcome(), "duty-planner", NOW, datetime(2013, 2, 8, 22, tzinfo=UTC), "trace-1", root)
    return replace(shown, **changes)


def events() -> list[Event]:
    """Return the events of a small execution, as the ledger stores them."""
    return list(_events())


def _events() -> Iterator[Event]:
    def order(order_id: OrderId, employee: str, steps: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {"order": {"order_id": order_id, "employee": employee, "plan": {"steps": steps}, **more}}

    chain = [{"order_id": ROOT, "employee": "operations-head", "step": "measure"}]
    facts: list[tuple[str, str, dict[str, Any]]] = [
        (EXECUTION, "execution.requested", {"request": {"goal": "Why?"}}),
        (
            ROOT,
            "order.accepted",
            order(
                ROOT,
                "operations-head",
                [{"id": "measure", "by": "analyst"}, {"id": "choose", "use": "advise"}],
                skill="explain-cancellations",
            ),
        ),
        (ROOT, "step.dispatched", {"step": "measure", "index": None, "order_id": CHILD}),
        (CHILD, "order.accepted", order(CHILD, "analyst", [{"id": "do", "use": "flights.query"}], chain=chain)),
        (CHILD, "step.finished", {"step": "do", "index": None, "seconds": 0.2, "use": "flights.query"}),
        (CHILD, "order.finished", {"report": {"state": "done"}}),
        (ROOT, "step.finished", {"step": "measure", "index": None, "seconds": 0.3, "order_id": CHILD}),
        (ROOT, "step.waiting", {"step": "choose", "index": None, "ids": [CARD]}),
        (EXECUTION, "execution.waiting", {"for": [CARD]}),
    ]
    versions: dict[str, int] = {}
    for position, (subject, type_, data) in enumerate(facts, 1):
        versions[subject] = versions.get(subject, 0) + 1
        yield Event(
            id=EventId.new(),
            source="/organisation/three-airports",
            type=type_,
            subject=subject,
            time=NOW + timedelta(seconds=position),
            data=data,
            organisation="three-airports",
            execution_id=EXECUTION,
            stream_version=versions[subject],
            position=position,
            payload_sha256=HASH,
            chain_sha256=HASH,
        )


def metric() -> MetricDefinition:
    """Return a metric."""
    return MetricDefinition(
        name="cancel-rate",
        title={"en": "Cancel rate", "zh": "取消率"},
        source="flights",
        over="flights",
        time="due",
        value="avg(cancelled)",
        unit="share",
        grains=(Grain.HOUR, Grain.DAY),
        dimensions={"origin": "origin"},
        owner="desk",
    )
