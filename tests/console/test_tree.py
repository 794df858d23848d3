"""The tree of an execution stays whole when the ledger behind it is not."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from console.notes import BranchFailure
from console.standing import outcome_of
from console.tree import tree_of
from console.views import ExecutionTree, StepState
from contracts import ExecutionRequest, OrderState
from governance.access import People
from governance.questions import QuestionDesk
from runtime.errors import CapabilityFailed, LedgerError
from runtime.executor import ExecutionRun, Executor
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, control, done
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio


class Body:
    """Carries out a plan of steps; an error among its tools ends it as the ledger would."""

    def __init__(self, world: World, *steps: dict[str, object], **facts: object) -> None:
        self._world, self._steps, self._facts = world, steps, facts

    async def run(self, run: ExecutionRun):  # type: ignore[no-untyped-def]
        self._world.execution_id = run.execution_id
        order = self._world.order(*self._steps, **self._facts)
        return await self._world.run(order.model_copy(update={"order_id": run.root_order_id}))


async def test_a_step_of_a_cancelled_order_is_not_said_never_to_have_begun(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(sqlite_store, clock)

    async def stop_and_hang(arguments: object, context: object) -> None:
        world.cancelled = True
        await asyncio.Event().wait()

    world.tools["hang"] = Tool("hang", stop_and_hang)
    body = Body(world, {"id": "a", "use": "hang"})

    tree = await shown(sqlite_store, clock, body, tmp_path)

    assert tree.root is not None
    assert (tree.root.state, tree.root.steps[0].state) == (OrderState.CANCELLED, StepState.CANCELLED)


async def nobody(view: object) -> People:
    return People(())


async def shown(store: SqlStore, clock: HandClock, body: Body, home: Path, *changes: str) -> ExecutionTree:
    """Run the body in an execution, change the database by hand, and return the tree."""
    executor = Executor(store, clock, ExecutorSettings(), body, "host:1")
    request = ExecutionRequest(organisation="acme", goal="look", requested_by="ann")
    execution_id = (await executor.submit(request, "0" * 64, home)).execution_id
    await executor.run(execution_id)
    with closing(sqlite3.connect(home / "silicon.db")) as database, database:
        for change in changes:
            database.execute(change)
    view = await executor.view(execution_id)
    outcome = await outcome_of(store, view, QuestionDesk(store, clock), home=home, people=nobody)
    return await tree_of(store, view, outcome, None)


@pytest.mark.parametrize(
    "changes",
    [
        ["UPDATE blob_parts SET data = X'00'"],
        ["DELETE FROM blob_parts"],
        ["DELETE FROM blob_parts", "DELETE FROM blobs"],
    ],
)
async def test_a_damaged_output_is_marked_and_everything_else_is_shown(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, changes: list[str]
) -> None:
    world = World(
        sqlite_store, clock, Tool("long", lambda a, c: {"rows": ["x"] * 10_000}), Tool("short", lambda a, c: {"n": 1})
    )
    body = Body(world, {"id": "a", "use": "long"}, {"id": "b", "use": "short"})

    tree = await shown(sqlite_store, clock, body, tmp_path, *changes)

    assert tree.root is not None
    told = [(step.id, step.state, step.output, step.damaged) for step in tree.root.steps]
    assert told == [("a", StepState.DONE, None, True), ("b", StepState.DONE, {"n": 1}, False)]


async def test_nothing_runs_in_an_execution_that_has_failed(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    def act(arguments: object, context: object) -> object:
        return {} if arguments == {"n": 0} else LedgerError("The ledger is odd.")

    world = World(sqlite_store, clock, Tool("try", act))
    each = {"id": "each", "for_each": "{{ items }}", "use": "try", "at_once": 1, "with": {"n": "{{ item }}"}}
    body = Body(world, each, plan={"parameters": {"items": {"type": "array"}}}, inputs={"items": [0, 1, 2]})

    tree = await shown(sqlite_store, clock, body, tmp_path)

    assert tree.root is not None and tree.root.state is OrderState.FAILED
    (step,) = tree.root.steps
    assert (step.state, step.steps[0].state) == (StepState.FAILED, StepState.DONE)


async def test_a_step_whose_model_has_answered_is_not_said_never_to_have_begun(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: LedgerError("The ledger is odd.")))
    world.model = ScriptedModel(calls(("look", {"at": 1})))
    body = Body(world, {"id": "think", "react": "Go.", "tools": ["look"]})

    tree = await shown(sqlite_store, clock, body, tmp_path)

    assert tree.root is not None
    assert [step.state for step in tree.root.steps] == [StepState.FAILED]


async def test_what_a_model_called_is_shown_as_evidence_of_its_step(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {"n": 1}))
    world.model = ScriptedModel(calls(("look", {"at": 1}), ("look", {"at": 1}), ("look", {"at": 2})), done(n=2))
    body = Body(world, {"id": "think", "react": "Go.", "tools": ["look"]})

    tree = await shown(sqlite_store, clock, body, tmp_path)

    assert tree.root is not None
    (step,) = tree.root.steps
    assert (step.state, step.output, len(step.evidence)) == (StepState.DONE, {"n": 2}, 2)


async def test_what_a_model_spent_is_shown_while_its_step_waits(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {"n": 1}))
    world.model = ScriptedModel(calls(("look", {"at": 1})), control("need_input", question="Which day?"))
    body = Body(world, {"id": "first", "use": "look"}, {"id": "think", "react": "Go.", "tools": ["look"]})

    tree = await shown(sqlite_store, clock, body, tmp_path)

    assert (tree.outcome.state, tree.outcome.usage.tokens_in) == (OrderState.WAITING, 20)
    assert tree.outcome.usage.steps == 1


async def test_an_execution_that_is_done_tells_of_a_branch_that_failed(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(
        sqlite_store, clock, Tool("refuse", lambda a, c: CapabilityFailed("No.")), Tool("look", lambda a, c: {"n": 1})
    )
    group = {"id": "both", "parallel": [{"id": "bad", "use": "refuse"}, {"id": "good", "use": "look"}]}

    tree = await shown(sqlite_store, clock, Body(world, group), tmp_path)

    assert tree.outcome.state is OrderState.DONE
    assert tree.outcome.failed_branches == (BranchFailure("both/bad", "CAPABILITY_FAILED", "No."),)


async def test_each_change_of_a_plan_is_shown_with_its_reason(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    world = World(sqlite_store, clock, Tool("find", lambda a, c: {"n": a["n"]}))
    step = {"id": "find", "use": "find", "with": {"n": 0}, "accept": ["n > 0"], "otherwise": {"with": {"n": 1}}}

    tree = await shown(sqlite_store, clock, Body(world, step), tmp_path)

    assert tree.root is not None
    (why,) = tree.root.revisions
    assert why.startswith("find: The result of step find is not accepted: `n > 0`")
