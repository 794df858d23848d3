"""The tree of an execution as the HTTP API gives it: every order and step, with its output and where that came from."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.views import ExecutionTree, OrderNode, StepNode, StepState
from console.views_rules import RefusedAction
from contracts import EvidenceItem, ExecutionId, Json, Name, OrderId, OrderState, Problem


class StepShown(ApiModel):
    """One step of an order, or one repetition or branch of it."""

    id: str = Field(examples=["measure"])
    """Its id in the plan."""
    state: StepState
    """Where it stands."""
    index: int | None = None
    """Which repetition it is, from 0."""
    description: str = ""
    """What it is for."""
    use: str | None = None
    """The capability that was called."""
    seconds: float = 0.0
    """Seconds of work."""
    attempts: int = 0
    """How often it was tried."""
    output: Json = None
    """What it gave, in full."""
    damaged: bool = False
    """Whether the output was changed or removed in the ledger and cannot be shown."""
    result_sha256: str | None = None
    """Hash of the output."""
    query_sha256: str | None = None
    """Hash of the query that was asked."""
    data_sha256: str | None = None
    """Hash of the data it was asked of."""
    evidence: tuple[EvidenceItem, ...] = ()
    """What was done and seen."""
    files: tuple[str, ...] = ()
    """Files that it made."""
    problem: Problem | None = None
    """What went wrong."""
    why: str = ""
    """Why it was skipped."""
    waiting_for: tuple[str, ...] = ()
    """Cards and questions that it waits for."""
    orders: tuple[OrderShown, ...] = ()
    """Orders that were given to carry it out."""
    steps: tuple[StepShown, ...] = ()
    """Its branches and repetitions."""

    @classmethod
    def of(cls, node: StepNode) -> StepShown:
        """Return what is shown of a step."""
        below = {"orders": tuple(map(OrderShown.of, node.orders)), "steps": tuple(map(cls.of, node.steps))}
        return cls(**{**{name: getattr(node, name) for name in cls.model_fields}, **below})


class RefusedShown(ApiModel):
    """An action that a rule did not let happen."""

    at: AwareDatetime
    """When."""
    rule: str
    """The rule."""
    rule_version: str
    """Hash of all that it said."""
    use: str
    """The capability."""
    step: str
    """The step that wanted it."""
    request_sha256: str
    """Of everything that the rule's condition could see."""
    message: str
    """Why, in words."""

    @classmethod
    def of(cls, action: RefusedAction) -> RefusedShown:
        """Return what is shown of a refused action."""
        return cls(**{name: getattr(action, name) for name in cls.model_fields})


class OrderShown(ApiModel):
    """One order: who did it, how, and its steps."""

    order_id: OrderId
    """Its id."""
    employee: Name
    """Who does it."""
    title: str
    """The employee's title."""
    objective: str
    """What is wanted of them."""
    state: OrderState
    """Where it stands."""
    skill: Name | None = None
    """The skill that it asks for."""
    seconds: float = 0.0
    """Seconds of work."""
    slot: str | None = None
    """Slot and driver, where it had one."""
    steps: tuple[StepShown, ...] = ()
    """Its steps, in the order of the plan."""
    seals: tuple[str, ...] = ()
    """Seals of its evidence packages."""
    revisions: tuple[str, ...] = ()
    """Why its plan was changed, in order."""
    refused: tuple[RefusedShown, ...] = ()
    """What rules did not let happen, in order."""
    error: Problem | None = None
    """What went wrong."""

    @classmethod
    def of(cls, node: OrderNode) -> OrderShown:
        """Return what is shown of an order."""
        fields = {name: getattr(node, name) for name in cls.model_fields}
        refused = tuple(map(RefusedShown.of, node.refused))
        return cls(**{**fields, "steps": tuple(map(StepShown.of, node.steps)), "refused": refused})


class Tree(ApiModel):
    """One execution with every order and step."""

    execution_id: ExecutionId
    """The execution."""
    known_at: AwareDatetime | None = None
    """It saw only what was known then; absent means the moment of the request."""
    trace_id: str
    """One id from the request to the slot."""
    root: OrderShown | None = None
    """The order of the head employee; absent until it was given."""

    @classmethod
    def of(cls, tree: ExecutionTree) -> Tree:
        """Return what is shown of a tree."""
        return cls(
            execution_id=tree.outcome.execution_id,
            known_at=tree.known_at,
            trace_id=tree.trace_id,
            root=None if tree.root is None else OrderShown.of(tree.root),
        )
