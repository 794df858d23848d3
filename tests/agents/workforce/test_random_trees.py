"""What must hold in any tree of employees, for any plans, outcomes and moments of death."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from contracts import (
    DispatchMode,
    Event,
    ExecutionId,
    ExecutionRequest,
    Json,
    OrderState,
    PlanDefinition,
    QuestionId,
    StatusReport,
)
from runtime.capabilities.port import CallContext, CallResult, Waiting
from runtime.engine.fold import fold_order
from runtime.engine.view import OrderView
from runtime.errors import BusinessRefusal
from runtime.executor import ExecutionRun
from runtime.ledger import open_store
from runtime.ledger.port import Store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from runtime.settings.groups import EngineSettings
from tests.agents.employee.staff import FakeNode, FakeSkill, FakeStaff
from tests.agents.workforce.company import Company
from tests.engines.alike import differences
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore

LIMITS = EngineSettings(dispatch_at_once=3, dispatch_most=4)
WIDEST = {DispatchMode.SEQUENTIAL: 1, DispatchMode.PARALLEL: 3, DispatchMode.ADAPTIVE: 4}
OUTCOMES = ("done", "done", "done", "done", "refused", "capped", "waits")


@dataclass
class Job:
    """One employee with its plan: own work with an outcome each, and those below it."""

    name: str
    works: list[tuple[str, bool]]
    """Outcome, and whether it is done in a slot."""
    below: list[Job]
    after: list[list[int]]
    """For each step of its plan, works first, the earlier steps that it waits for."""

    def everybody(self) -> Iterator[Job]:
        yield self
        for job in self.below:
            yield from job.everybody()

    def plan(self, dispatch: DispatchMode) -> PlanDefinition:
        steps: list[dict[str, Any]] = []
        for number, (outcome, in_slot) in enumerate(self.works):
            use = "flights.query" if in_slot else "echo"
            who = {"by": f"{self.name}-hand"} if in_slot else {}
            step = {
                "id": f"w{number}",
                "use": use,
                "with": {"text": f"{self.name}.w{number}", "outcome": outcome},
                **who,
            }
            steps.append(step | ({"until": {"check": "false", "most": 1}} if outcome == "capped" else {}))
        steps += [{"id": f"b{n}", "by": job.name, "skill": job.name} for n, job in enumerate(self.below)]
        for number, step in enumerate(steps):
            step["after"] = [steps[earlier]["id"] for earlier in self.after[number]]
        gives = {step["id"]: f"{{{{ {step['id']}{'.text' if 'use' in step else ''} }}}}" for step in steps}
        return PlanDefinition.model_validate({"steps": steps, "gives": gives, "dispatch": dispatch})

    def node(self) -> FakeNode:
        hand = FakeNode(f"{self.name}-hand", can=("flights.query",))
        return FakeNode(self.name, skills=(self.name,), can=("echo",), manages=(hand, *(j.node() for j in self.below)))

    def gives(self) -> dict[str, Any]:
        """Return the output that follows from the outputs of those below, when everything is done."""
        own = {f"w{number}": f"{self.name}.w{number}" for number in range(len(self.works))}
        return own | {f"b{number}": job.gives() for number, job in enumerate(self.below)}


@st.composite
def jobs(draw: st.DrawFn, *, outcomes: tuple[str, ...] = OUTCOMES, name: str = "e", level: int = 1) -> Job:
    most_below = {1: 3, 2: 2}.get(level, 1) if level < 4 else 0  # hands stand one level deeper
    below = [draw(jobs(outcomes=outcomes, name=f"{name}{n}", level=level + 1))
             for n in range(draw(st.integers(1 if level == 1 else 0, most_below)))]  # fmt: skip
    one = st.tuples(st.sampled_from(outcomes), st.booleans())
    works = draw(st.lists(one, min_size=0 if below else 1, max_size=3))
    earlier = [draw(st.lists(st.sampled_from(range(n)), max_size=1, unique=True)) if n > 1 else []
               for n in range(len(works) + len(below))]  # fmt: skip
    return Job(name, works, below, earlier)


@dataclass
class Hands:
    """Does all work, and sees how much of each order is under way at once."""

    calls: Counter[str] = field(default_factory=Counter)
    widest: int = 0
    _under_way: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    async def __call__(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        places = [(str(above.order_id), above.step or "") for above in context.order.chain]
        places.append((str(context.order.order_id), context.step))
        for order, step in places:
            self._under_way[order][step] += 1
            self.widest = max(self.widest, len(+self._under_way[order]))
        try:
            for _ in range(50):  # others that may begin meanwhile do
                await asyncio.sleep(0)
            return self._given(arguments, context)
        finally:
            for order, step in places:
                self._under_way[order][step] -= 1

    def _given(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        match arguments["outcome"]:
            case "refused":
                raise BusinessRefusal("No.", happened="no")
            case "waits" if not context.pending:
                return Waiting((QuestionId.new(),))
        self.calls[context.key] += 1
        return CallResult({"text": arguments["text"]})


@dataclass
class Ended:
    """What is left when the execution of a tree is over."""

    report: StatusReport
    views: list[OrderView]
    finished: Counter[str]
    hands: Hands


class Laboratory:
    """One store and one event loop for all examples; each example has an execution of its own."""

    def __init__(self, runner: asyncio.Runner, store: SqlStore, clock: HandClock) -> None:
        self._runner = runner
        self._store = store
        self._clock = clock

    def carry_out(self, job: Job, dispatch: DispatchMode, deaths: list[tuple[int, bool]]) -> Ended:
        """Have the tree work in one process after the other; each dies at its append, the last one lives."""
        return self._runner.run(self._carried_out(job, dispatch, deaths))

    def told(self, job: Job, dispatch: DispatchMode, company: type[Company]) -> tuple[StatusReport, list[Event]]:
        """Have the tree work in one process, as often as it takes; return its report and what its orders tell."""
        return self._runner.run(self._told(job, dispatch, company))

    async def _told(self, job: Job, dispatch: DispatchMode, company: type[Company]) -> tuple[StatusReport, list[Event]]:
        skills = {each.name: FakeSkill(each.name, each.plan(dispatch)) for each in job.everybody()}
        hands, before = Hands(), await self._store.ledger.head()
        firm = company(
            FakeStaff(job.node(), skills), self._store, self._clock, {"echo": hands, "flights.query": hands},
            settings=LIMITS,
        )  # fmt: skip
        report = await firm.ask(job.name)
        while report.state is OrderState.WAITING:
            (execution, *_) = await self._store.ledger.newest_streams("execution", limit=1)
            report = await firm.executor.run(ExecutionId(execution))
        return report, await self._store.ledger.read_all(after=before, limit=100_000)

    async def _carried_out(self, job: Job, dispatch: DispatchMode, deaths: list[tuple[int, bool]]) -> Ended:
        skills = {each.name: FakeSkill(each.name, each.plan(dispatch)) for each in job.everybody()}
        staff, hands, execution = FakeStaff(job.node(), skills), Hands(), ExecutionId.new()
        for at, committed in deaths:
            with suppress(Crash):
                await self._stretch(CrashingStore(self._store, at, committed=committed), staff, hands, execution)
        report = await self._stretch(self._store, staff, hands, execution)
        for _ in range(20):
            if report.state is not OrderState.WAITING:
                break
            report = await self._stretch(self._store, staff, hands, execution)
        views, finished = [], Counter[str]()
        for stream in await self._store.ledger.streams("order"):
            events = await self._store.ledger.read(stream)
            view = fold_order(events)
            if view.order is not None and view.order.execution_id == execution:
                views.append(view)
                finished.update(f"{stream}/{e.data['step']}:{e.data['index']}" for e in events
                                if e.type == "step.finished" and e.data)  # fmt: skip
        return Ended(report, views, finished, hands)

    async def _stretch(self, store: Store, staff: FakeStaff, hands: Hands, execution: ExecutionId) -> StatusReport:
        answers = {"echo": hands, "flights.query": hands}
        firm = Company(staff, store, self._clock, answers, settings=LIMITS)  # a process that remembers nothing
        request = ExecutionRequest(
            organisation=staff.name, goal="Go", skill=staff.head.id, requested_by="ann", known_at=self._clock.now()
        )
        run = ExecutionRun(
            execution_id=execution, request=request, organisation_sha256="0" * 64, home=Path("/nowhere"),
            trace_id="0" * 32, resumed=True, reopened=False, leases=(), cancelled=lambda: False,
        )  # fmt: skip
        return await firm.workforce.run(run)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    clock = HandClock()
    structlog.configure(processors=[_drop])
    with asyncio.Runner() as runner:
        home = tmp_path_factory.mktemp("store")
        store = runner.run(open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock))
        yield Laboratory(runner, store, clock)
        runner.run(store.close())
    structlog.reset_defaults()


def _drop(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    raise structlog.DropEvent


modes = st.sampled_from(DispatchMode)
deaths_ = st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=2)


@settings(max_examples=20, deadline=None)
@given(jobs(), modes, deaths_)
def test_every_order_ends_in_a_report_and_no_finished_step_runs_twice(
    laboratory: Laboratory, job: Job, dispatch: DispatchMode, deaths: list[tuple[int, bool]]
) -> None:
    ended = laboratory.carry_out(job, dispatch, deaths)

    assert ended.report.state in (OrderState.DONE, OrderState.FAILED, OrderState.PARTIAL)
    assert all(view.report is not None or view.waiting_for for view in ended.views)
    assert set(ended.finished.values()) <= {1}
    assert all(calls <= 1 + len(deaths) for calls in ended.hands.calls.values())
    assert ended.hands.widest <= WIDEST[dispatch]
    if ended.report.state is OrderState.PARTIAL:
        assert is_part_of(ended.report.output, job.gives())


@settings(max_examples=12, deadline=None)
@given(jobs(outcomes=("done", "waits")), modes, deaths_)
def test_what_a_manager_gives_follows_from_what_those_below_gave_whenever_it_died(
    laboratory: Laboratory, job: Job, dispatch: DispatchMode, deaths: list[tuple[int, bool]]
) -> None:
    ended = laboratory.carry_out(job, dispatch, deaths)

    assert (ended.report.state, ended.report.output) == (OrderState.DONE, job.gives())


class InTwoHosts(Company):
    """The same company, whose employees sit in hosts."""

    in_hosts = True


@settings(max_examples=6, deadline=None, phases=[phase for phase in Phase if phase is not Phase.shrink])
@given(jobs(outcomes=("done", "waits")), modes)
def test_the_same_is_told_wherever_everybody_sits(laboratory: Laboratory, job: Job, dispatch: DispatchMode) -> None:
    together, events = laboratory.told(job, dispatch, Company)
    spread, others = laboratory.told(job, dispatch, InTwoHosts)

    found = differences(events, others, shares=dispatch is DispatchMode.SEQUENTIAL)
    assert found == [], "\n".join(found)
    assert (together.state, together.output) == (spread.state, spread.output) == (OrderState.DONE, job.gives())


def is_part_of(some: Any, whole: Any) -> bool:
    """Whether everything that is there is as it would be in the whole, and only nulls stand for the rest."""
    if some is None:
        return True
    if isinstance(some, dict) and isinstance(whole, dict):
        return all(name in whole and is_part_of(value, whole[name]) for name, value in some.items())
    return bool(some == whole)
