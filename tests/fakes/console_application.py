"""An application that answers from memory, for tests of the faces: it remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from console.doctor import examine
from console.errors import SkillUnclear
from console.ports import AnyId, Watch
from console.views import (
    AuditFinding,
    AuditResult,
    CardStanding,
    CardState,
    CheckResult,
    DatabaseStatus,
    Examined,
    ExecutionOutcome,
    ExecutionRow,
    ExecutionTree,
    Fault,
    Found,
    Health,
    MetricReading,
    OrderNode,
    Product,
    Raised,
    RunOptions,
    SensorFailure,
    SensorRow,
    SensorsOutcome,
    StepNode,
    StepState,
)
from contracts import (
    Action,
    CardId,
    CardKind,
    Confidence,
    Decision,
    DecisionCard,
    DecisionId,
    Effect,
    ErrorCategory,
    Event,
    EventId,
    EvidenceItem,
    EvidenceKind,
    ExecutionId,
    Grain,
    Id,
    MetricDefinition,
    Money,
    Option,
    OrderId,
    OrderState,
    Outcome,
    Problem,
    Question,
    QuestionId,
    Severity,
    Signal,
    SignalId,
    SignalKind,
    Usage,
)
from runtime.errors import BusinessRefusal, NotFound, SiliconError
from runtime.settings.load import Settings

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HASH = "a3f1" * 16
EXECUTION = ExecutionId("execution/01JB0000000000000000000XEC")
ROOT = OrderId("order/01JB0000000000000000000RDR")
CHILD = OrderId("order/01JB0000000000000000000CHD")
CARD = CardId("card/01JB0000000000000000000CRD")
QUESTION = QuestionId("question/01JB0000000000000000000QST")


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


@dataclass
class FakeApplication:
    """Answers with what its fields hold; `asked` is the list of calls."""

    outcome: ExecutionOutcome = field(default_factory=outcome)
    after_decision: CardStanding = field(
        default_factory=lambda: standing(
            state=CardState.CLOSED, outcome=Outcome.APPROVED, option="waive", deadline=None
        )
    )
    faults: tuple[Fault, ...] = ()
    failed_sensors: tuple[SensorFailure, ...] = ()
    audit: tuple[AuditFinding, ...] = ()
    database_status: DatabaseStatus = field(
        default_factory=lambda: DatabaseStatus("sqlite:///home/silicon.db", "0003", "0003")
    )
    open_cards: tuple[CardStanding, ...] = field(default_factory=lambda: (standing(),))
    refusal: SiliconError | None = None
    """Raised by `may_decide`."""
    broken: bool = False
    raises: BaseException | None = None
    """Raised by `run` and `resume` after the first event."""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    settings: Settings = field(init=False)

    @asynccontextmanager
    async def __call__(self, settings: Settings) -> AsyncIterator[FakeApplication]:
        self.settings = settings
        self.asked.append(("open", settings))
        yield self
        self.asked.append(("close", None))

    async def check(self, folder: Path) -> CheckResult:
        return CheckResult(folder, "three-airports", self.faults, {"employees": 11, "skills": 5, "people": 1})

    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        self.asked.append(("run", (folder, options)))
        if options.goal == "nonsense":
            raise SkillUnclear(
                "No skill fits the goal. There are: explain-cancellations.", skills=["explain-cancellations"]
            )
        return await self._carry_out(watch)

    async def resume(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        self.asked.append(("resume", execution_id))
        return await self._carry_out(watch)

    async def _carry_out(self, watch: Watch) -> ExecutionOutcome:
        for event in events():
            watch(event)
            await asyncio.sleep(0)
            if self.raises is not None:
                raise self.raises
        return self.outcome

    async def cancel(self, execution_id: ExecutionId, *, by: str | None) -> ExecutionOutcome:
        self.asked.append(("cancel", by))
        return self.outcome

    async def executions(self, *, organisation: str | None, limit: int) -> Sequence[ExecutionRow]:
        row = ExecutionRow(
            EXECUTION,
            "three-airports",
            "Why were so many flights cancelled?",
            None,
            OrderState.WAITING,
            "duty-planner",
            NOW,
            4.2,
            (str(CARD),),
        )
        return [row, replace(row, state=OrderState.RUNNING)][:limit]

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        return tree()

    async def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncIterator[Event]:
        for event in events():
            if event.position > after:
                yield event

    async def ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        known: dict[type[Id], Id] = {ExecutionId: EXECUTION, OrderId: ROOT, CardId: CARD, QuestionId: QUESTION}
        return [kind(known[kind])]

    async def execution_of(self, order_or_card: Id) -> ExecutionId:
        return EXECUTION

    async def cards(self, *, all_: bool) -> Sequence[CardStanding]:
        return self.open_cards

    async def card(self, card_id: CardId) -> CardStanding:
        if not self.open_cards:
            raise NotFound(f"There is no card {card_id}.", card=str(card_id))
        return self.open_cards[0]

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def decide(self, card_id: CardId, *, option: str | None, reason: str, by: str | None) -> CardStanding:
        self.asked.append(("decide", (option, reason, by)))
        if self.open_cards[0].state is CardState.CLOSED:
            raise BusinessRefusal("The card was approved by duty-manager before.", outcome="approved")
        decision = Decision(
            decision_id=DecisionId.new(),
            card_id=card_id,
            card_sha256=HASH,
            approve=option is not None,
            option=option,
            reason=reason,
            by=by or "duty-manager",
            at=NOW,
            via="cli",
        )
        return replace(self.after_decision, decisions=(decision,))

    async def questions(self) -> Sequence[Question]:
        return [a_question()]

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        self.asked.append(("answer", value))
        return EXECUTION

    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        return [metric()]

    async def metric_values(
        self,
        folder: Path,
        name: str,
        *,
        grain: str | None,
        at: datetime | None,
        bucket: str | None,
        where: Mapping[str, str],
        by: Sequence[str],
        last: int,
    ) -> Sequence[MetricReading]:
        self.asked.append(("metric_values", (grain, at, where)))
        return [
            MetricReading("2013-02-07", "value", 0.0, 900, {"origin": "EWR"}),
            MetricReading("2013-02-08", "missing", None, 0, {"origin": "EWR"}),
            MetricReading("2013-02-09", "not_yet_known", None, None, {"origin": "EWR"}),
        ]

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        return [SensorRow("rate", "cancel-rate", "hour", ("origin",), "value > 0.15", 3, Severity.HIGH, "explain")]

    async def run_sensors(
        self, folder: Path, names: Sequence[str], *, at: datetime | None, start: bool, by: str | None, watch: Watch
    ) -> SensorsOutcome:
        signal = Signal(
            signal_id=SignalId.new(),
            organisation="three-airports",
            sensor="rate",
            kind=SignalKind.THRESHOLD,
            metric="cancel-rate",
            bucket="2013-02-08",
            value=0.5075,
            severity=Severity.HIGH,
            key="k",
            at=NOW,
        )
        raised = Raised(
            signal, "Explain it's bad", "explain", {"day": "2013-02-08"}, "share", self.outcome if start else None
        )
        return SensorsOutcome(NOW, 1, 24, (raised,), merged=2, failed=self.failed_sensors)

    async def verify(self) -> AuditResult:
        return AuditResult(1234, self.audit)

    async def database(self) -> DatabaseStatus:
        return self.database_status

    async def upgrade(self) -> DatabaseStatus:
        return replace(self.database_status, revision=self.database_status.newest)

    async def doctor(self, folder: Path | None) -> Sequence[Examined]:
        if self.broken:
            return [Examined("database", Health.BROKEN, "it is locked", "Stop the other program.")]
        return [*examine(self.settings), Examined("sandbox", Health.NOTE, "rlimits; cannot enforce: network")]
