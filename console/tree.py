"""The tree of an execution: every order with its steps, their outputs and where these came from."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agents.organisation import Organisation
from console.signs import is_held, is_overtaken, models_asked
from console.standing import in_language
from console.told import events_of
from console.views import ExecutionOutcome, ExecutionTree, ModelAsked, OrderNode, StepNode, StepState
from console.views_rules import RefusedAction, refused_action
from contracts import Event, EvidencePackage, Json, OrderId, OrderState, Step
from runtime.engine.fold import fold_order
from runtime.engine.refused import POLICY_REFUSED
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView, Unit
from runtime.errors import BlobDamaged, NotFound
from runtime.executor import ExecutionView
from runtime.ledger.port import Store

_STATES: Mapping[UnitState, StepState] = {
    UnitState.PENDING: StepState.PENDING,
    UnitState.DISPATCHED: StepState.RUNNING,
    UnitState.INTENDED: StepState.RUNNING,
    UnitState.WAITING: StepState.WAITING,
    UnitState.DONE: StepState.DONE,
    UnitState.FAILED: StepState.FAILED,
    UnitState.SKIPPED: StepState.SKIPPED,
}
AT_WORK = 1_000
"""Orders, the newest, whose models are looked at."""
_UNFINISHED = (StepState.PENDING, StepState.RUNNING, StepState.WAITING)


async def tree_of(
    store: Store, view: ExecutionView, outcome: ExecutionOutcome, organisation: Organisation | None
) -> ExecutionTree:
    """Return everything there is to show of the execution. Without the organisation, employees have no titles."""
    streams: dict[str, list[Event]] = {}
    async for event in events_of(store, view.execution_id):
        streams.setdefault(event.subject, []).append(event)
    orders = await asyncio.to_thread(_fold, streams)  # a long history would hold up everything else
    tree = _Tree(store, view, orders, streams, organisation)
    await tree.look_for_models()
    root = str(view.root_order_id)
    return ExecutionTree(
        outcome=outcome,
        requested_by=view.request.requested_by,
        requested_at=view.requested_at,
        known_at=view.request.known_at,
        trace_id=view.trace_id,
        root=await tree.order(root) if root in orders else None,
    )


class _Tree:
    def __init__(
        self, store: Store, view: ExecutionView, orders: Mapping[str, OrderView],
        streams: Mapping[str, Sequence[Event]], organisation: Organisation | None,
    ) -> None:  # fmt: skip
        self._store = store
        self._view = view
        self._orders = orders
        self._streams = streams
        self._asked: dict[tuple[str, str, int | None], ModelAsked] = {}
        self._seals = _seals(streams)
        self._revisions = _revisions(streams)
        self._organisation = organisation

    async def look_for_models(self) -> None:
        """Find out which steps ask their models now; only what a process works on does."""
        if self._view.report is not None or not await is_held(self._store, self._view.execution_id):
            return
        gone_on = [each.time for each in self._streams[self._view.execution_id] if each.type == "execution.resumed"]
        at_work = [order for order, view in self._orders.items() if view.order is not None and view.report is None]
        for sign in await models_asked(self._store, at_work[-AT_WORK:]):
            overtaken = bool(gone_on) and sign.since < gone_on[-1]
            if not overtaken and not is_overtaken(sign, self._streams[sign.order_id]):
                self._asked[sign.order_id, sign.step, sign.index] = sign

    async def order(self, order_id: str) -> OrderNode | None:
        view = self._orders[order_id]
        if view.order is None:
            return None
        slot = f"{view.allocation.slot_id} ({view.allocation.driver})" if view.allocation else None
        return OrderNode(
            order_id=OrderId(order_id),
            employee=view.order.employee,
            title=self._title(view.order.employee),
            objective=view.order.objective,
            state=self._state(view),
            skill=view.order.skill,
            seconds=view.usage.seconds,
            slot=slot,
            steps=tuple([await self._step(view, step) for step in view.order.plan.steps]),
            seals=tuple(self._seals.get(order_id, ())),
            revisions=tuple(self._revisions.get(order_id, ())),
            refused=tuple(_refused(self._streams.get(order_id, ()))),
            error=view.report.error if view.report else None,
        )

    async def _step(self, view: OrderView, step: Step) -> StepNode:
        whole = view.unit(step.id)
        repeated = view.repetitions(step.id)
        branches = [await self._step(view, branch) for branch in step.parallel]
        branches += [await self._unit(view, step, unit) for unit in repeated]
        node = await self._unit(view, step, whole)
        waits = any(map(self._waits, (whole, *repeated)))
        asked = node.asked or next((branch.asked for branch in branches if branch.asked), None)
        state = self._step_state(view, _begun(whole, view.state_of(step.id), asked), waits=waits)
        return StepNode(**{**_fields(node), "state": state, "steps": tuple(branches)})

    async def _unit(self, view: OrderView, step: Step, unit: Unit) -> StepNode:
        result, (output, damaged) = unit.result, await self._output(unit)
        shown = [*(unit.react.results if unit.react else ()), *([result] if result else [])]
        given = [holder.child.order_id for holder in unit.holders if holder.child is not None]
        below = [order_id for order_id in given if order_id in self._orders]
        orders = [node for order_id in below if (node := await self.order(order_id)) is not None]
        asked = self._asked.get((str(view.order.order_id), unit.step, unit.index)) if view.order else None
        return StepNode(
            id=step.id,
            state=self._step_state(view, _begun(unit, unit.state, asked), waits=self._waits(unit)),
            index=unit.index,
            description=in_language(step.description, self._view),
            use=(result.use if result else None) or step.use,
            seconds=result.seconds if result else 0.0,
            attempts=unit.attempt if unit.state is not UnitState.PENDING or unit.failures else 0,
            output=output,
            damaged=damaged,
            result_sha256=result.result_sha256 if result and not result.members else None,
            query_sha256=result.query_sha256 if result else None,
            data_sha256=result.data_sha256 if result else None,
            evidence=tuple(item for part in shown for item in part.evidence(step.id)),
            files=tuple(artifact.name for part in shown for artifact in part.artifacts),
            problem=unit.problem,
            why=unit.why,
            waiting_for=unit.waiting if self._waits(unit) else (),
            asked=asked,
            orders=tuple(orders),
        )

    async def _output(self, unit: Unit) -> tuple[Json, bool]:
        """Return what the unit gave, and whether that is lost: what else there is to show is shown all the same."""
        if unit.result is None:
            return None, False
        if unit.result.output_sha256 is None:
            return unit.result.output, False
        try:
            return json.loads(await self._store.blobs.get(unit.result.output_sha256)), False
        except (BlobDamaged, NotFound):
            return None, True

    def _waits(self, unit: Unit) -> bool:
        """Whether people are waited for: in a cancelled execution, only those who can tell what became of an effect."""
        asked = self._view.cancel_requested_by is None or any(each in self._view.waiting_for for each in unit.waiting)
        return unit.state is UnitState.WAITING and asked

    def _step_state(self, view: OrderView, state: UnitState, *, waits: bool) -> StepState:
        """Return how a step is shown: in an execution that has ended, nothing runs any more."""
        shown, ended = _STATES[state], self._view.report
        if shown in _UNFINISHED and view.report is not None and view.report.state is OrderState.CANCELLED:
            return StepState.CANCELLED
        if shown is StepState.WAITING and not waits:
            return StepState.CANCELLED
        if shown is not StepState.RUNNING or ended is None:
            return shown
        return StepState.FAILED if ended.state is OrderState.FAILED else StepState.PENDING

    def _state(self, view: OrderView) -> OrderState:
        report = view.report or self._view.report  # an order that could not even write its end ended with the execution
        if report is not None:
            return report.state
        return OrderState.WAITING if view.waiting_for or self._waits_below(view) else OrderState.RUNNING

    def _waits_below(self, view: OrderView) -> bool:
        below = [self._orders[child] for child in view.children if child in self._orders]
        return any(self._state(child) is OrderState.WAITING for child in below)

    def _title(self, employee: str) -> str:
        node = self._organisation.employees.get(employee) if self._organisation else None
        return in_language(node.title, self._view) if node and node.title else employee


def _fold(streams: Mapping[str, Sequence[Event]]) -> dict[str, OrderView]:
    return {stream: fold_order(events) for stream, events in streams.items() if stream.startswith("order/")}


def _fields(node: StepNode) -> dict[str, Any]:
    return {name: getattr(node, name) for name in StepNode.__dataclass_fields__}


def _revisions(streams: Mapping[str, Sequence[Event]]) -> dict[str, list[str]]:
    """Return order → why its plan was changed, each time."""
    return {
        stream: [f"{e.data['step']}: {e.data['because']}" for e in events if e.type == "plan.revised" and e.data]
        for stream, events in streams.items()
    }


def _refused(events: Sequence[Event]) -> list[RefusedAction]:
    return [
        refused_action(event.time, event.data, order_id=event.subject, execution_id=event.execution_id)
        for event in events
        if event.type == POLICY_REFUSED and event.data is not None
    ]


def _seals(streams: Mapping[str, Sequence[Event]]) -> dict[str, list[str]]:
    """Return order → seals of its evidence packages."""
    found: dict[str, list[str]] = {}
    for events in streams.values():
        for event in events:
            if event.type == "evidence.sealed" and event.data is not None:
                package = EvidencePackage.read(event.data["package"])  # type: ignore[arg-type]
                found.setdefault(package.order_id, []).append(package.seal)
    return found


def _begun(unit: Unit, state: UnitState, asked: ModelAsked | None) -> UnitState:
    """Return the state; a step whose model was asked is under way, though nothing of it is dispatched."""
    talks = asked is not None or (unit.react is not None and unit.react.number > 0)
    return UnitState.DISPATCHED if state is UnitState.PENDING and talks else state
