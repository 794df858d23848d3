"""What the events of an execution tell about its outcome, read on from where the last reader stopped."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from agents.cognition.advise import not_offered
from console.notes import BranchFailure, NotOffered
from contracts import DataProduct, Event, ExecutionId, Finding, Problem, TaskOrder, Usage
from runtime.engine.branches import branches_of, path_of
from runtime.engine.result import spent_in
from runtime.executor import ExecutionView
from runtime.ledger.port import Store

_SETTLES = ("step.finished", "step.failed", "step.skipped")
_PAGE = 1_000
_KEPT = 32


async def events_of(store: Store, execution_id: ExecutionId, *, after: int = 0) -> AsyncIterator[Event]:
    """Yield every event of an execution with a position greater than `after`, in order."""
    while page := await store.ledger.read_execution(execution_id, after=after, limit=_PAGE):
        for event in page:
            yield event
        after = page[-1].position


@dataclass
class Told:
    """The part of an outcome that only grows; what changes later, such as a card, is read where it stands."""

    position: int = 0
    """Of the last event that was taken in."""
    skill: str | None = None
    """The skill of the first order that names one."""
    usage: Usage = field(default_factory=Usage)
    """Of the steps that are finished."""
    products: list[DataProduct] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    raised: dict[str, None] = field(default_factory=dict)
    """Cards, in the order they were raised."""
    names: dict[str, str] = field(default_factory=dict)
    """Order → what its products are filed under: its skill, else its employee."""
    not_offered: dict[NotOffered, None] = field(default_factory=dict)
    """Options that could not be put before a person."""
    groups: dict[str, TaskOrder] = field(default_factory=dict)
    """Order → itself, where its plan has a parallel group."""
    failed: dict[str, Problem] = field(default_factory=dict)
    """Branch → why it failed for good."""

    @property
    def failed_branches(self) -> tuple[BranchFailure, ...]:
        """The branches that failed or were cancelled, which their groups went on without; outermost ones only."""
        return tuple(
            BranchFailure(path, problem.code, problem.message)
            for path, problem in self.failed.items()
            if not any(around in self.failed for around in _around(path))
        )

    def take(self, event: Event) -> None:
        """Take one more event in."""
        self.position = event.position
        if event.type in ("card.raised", "card.joined"):
            self.raised[event.subject] = None
        if event.data is None:
            return
        match event.type:
            case "card.raised":
                self._leave_out(not_offered(event.data["card"].get("facts", {})))  # type: ignore[union-attr,arg-type]
            case "options.left_out":
                self._leave_out(event.data["not_offered"])  # type: ignore[arg-type]
            case "order.accepted":
                order = TaskOrder.read(event.data["order"])  # type: ignore[arg-type]
                self.names[event.subject] = order.skill or order.employee
                self.skill = self.skill or order.skill
                if branches_of(order):
                    self.groups[event.subject] = order
            case "product.made":
                self.products.append(DataProduct.read(event.data["product"]))  # type: ignore[arg-type]
            case "finding.made":
                self.findings.append(Finding.read(event.data["finding"]))  # type: ignore[arg-type]
            case "step.finished" if not event.data.keys() & {"members", "order_id"}:
                self.usage = self.usage + spent_in(event.data)
            case "model.answered" | "call.finished" if "usage" in event.data:
                self.usage = self.usage + Usage.read(event.data["usage"])  # type: ignore[arg-type]

        if event.subject in self.groups and event.type in _SETTLES:
            self._settle(self.groups[event.subject], event.type, event.data)

    def _leave_out(self, told: Iterable[Mapping[str, Any]]) -> None:
        self.not_offered.update(dict.fromkeys(NotOffered(**each) for each in told))

    def _settle(self, order: TaskOrder, type_: str, data: Mapping[str, Any]) -> None:
        """Note how a branch ended; one that is carried out anew may end in another way."""
        if data["step"] not in branches_of(order):
            return
        path = path_of(order, data["step"], data.get("index"))
        self.failed.pop(path, None)
        if type_ == "step.failed" and data.get("final"):
            self.failed[path] = Problem.read(data["problem"])

    def copy(self) -> Told:
        """Return what is told now, which stays as it is."""
        return replace(
            self,
            products=list(self.products),
            findings=list(self.findings),
            raised=dict(self.raised),
            names=dict(self.names),
            not_offered=dict(self.not_offered),
            groups=dict(self.groups),
            failed=dict(self.failed),
        )


async def all_told(store: Store, view: ExecutionView) -> Told:
    """Return what all events of an execution tell."""
    told = Told()
    async for event in events_of(store, view.execution_id):
        told.take(event)
    return told


class Tellings:
    """What was told of the executions that were asked for last: whoever watches one asks for it again and again.

    Nothing is told that was erased: with any erasure in its organisation, an execution is read anew.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[ExecutionId, _Kept] = OrderedDict()

    async def of(self, store: Store, view: ExecutionView) -> Told:
        """Return what is told of an execution; only events are read that were not told before."""
        kept = self._kept.setdefault(view.execution_id, _Kept())
        self._kept.move_to_end(view.execution_id)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        async with kept.reading:
            erasures = await store.ledger.read(f"erasure/{view.request.organisation}", after_version=kept.erasures)
            if erasures:
                kept.told, kept.erasures = Told(), erasures[-1].stream_version
            async for event in events_of(store, view.execution_id, after=kept.told.position):
                kept.told.take(event)
            return kept.told.copy()


@dataclass
class _Kept:
    told: Told = field(default_factory=Told)
    erasures: int = 0
    """Erasures in the organisation up to which what is told is as it should be."""
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


def _around(path: str) -> Iterator[str]:
    """Yield what a branch is part of: the whole of a repetition, and every step on the way to it."""
    if path.endswith("]"):
        yield path.rpartition("[")[0]
    yield from accumulate(path.split("/")[:-1], lambda way, step: f"{way}/{step}")
