"""What passes between the gateway and a bridge that speaks only HTTP: its node, its orders, calls, verdicts, receipts.

The server binds arguments, asks people and keeps the ledger; the bridge carries out single calls and says what came of
them. `docs/cluster.md` has the protocol. What a bridge sends is made ready at once, not when it is first used as other
contracts are: the HTTP API makes validators of its own from it, and putting those off leads to warnings.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from contracts.base import NAME_PATTERN, CapabilityName, Contract, Json, Name, Sha256, StepId
from contracts.evidence import EvidenceKind
from contracts.ids import CallId, CardId, NodeId, OrderId, QuestionId, SlotId
from contracts.order import StatusReport, TaskOrder
from contracts.plan import Effect
from contracts.problems import ErrorCategory
from contracts.slots import SlotAllocation

Label = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=64)]
"""What a node offers: lower case, words joined by hyphens."""

Session = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
"""One stretch of a bridge, from `register` to `leave`; whoever registers the node anew ends it."""


class BridgeNode(Contract, defer_build=False):
    """A node that enters the cluster, as its bridge declares it."""

    name: Name
    """Its name among the nodes of this token; the same name is the same node."""
    slots: int = Field(default=1, ge=1, le=64)
    """How many orders it carries out at once."""
    labels: tuple[Label, ...] = Field(default=(), max_length=32)
    """What it offers; each must be among the labels of the token."""
    capabilities: tuple[CapabilityName, ...] = Field(min_length=1, max_length=200)
    """What it carries out, by the names in `connections.yaml`. What they do to the world is declared there."""
    asks_first: bool = False
    """Whether it asks for each effect right before it and reports a receipt; else it gets only orders that read."""


class BridgeEntry(Contract):
    """A node that was entered, and how its bridge keeps it."""

    node_id: NodeId
    """The node."""
    session: Session
    """To be sent with everything that follows."""
    beat_s: float = Field(gt=0)
    """How often it is to give a sign of life, seconds."""
    lost_s: float = Field(gt=0)
    """Without one for so long it is lost, and its orders go on elsewhere."""
    lease_s: float = Field(gt=0)
    """How long a slot is held without a word about its order."""
    organisations: tuple[Name, ...]
    """Whose orders it gets."""


class BridgeBeat(Contract, defer_build=False):
    """A sign of life."""

    session: Session
    """From the entry."""
    holding: tuple[OrderId, ...] = Field(default=(), max_length=64)
    """Orders it works on; the leases of their slots are prolonged."""
    taking: bool = True
    """Whether it takes further orders; false lets it end what it has."""
    wait_s: float = Field(default=0, ge=0, le=10)
    """How long the answer may wait for an order, seconds."""


class BridgeLeave(Contract, defer_build=False):
    """That a session ends."""

    session: Session
    """From the entry."""


class BridgeOrder(Contract):
    """An order for a bridge, with the slot that it holds for it."""

    order: TaskOrder
    """What is to be done; the server takes it from step to step."""
    allocation: SlotAllocation
    """Its slot; `fence` goes with every word about the order."""


class BridgeOrders(Contract):
    """The answer to a sign of life."""

    orders: tuple[BridgeOrder, ...] = ()
    """Orders of this session that it did not name: new ones, and those whose news was lost on the way."""
    lost: tuple[OrderId, ...] = ()
    """Orders it named that are no longer its own: do nothing more for them."""


class BridgeWord(Contract, defer_build=False):
    """What is said about an order, by whoever holds its slot."""

    session: Session
    """From the entry."""
    slot_id: SlotId
    """From the allocation."""
    fence: int = Field(ge=1, le=2**63 - 1, strict=True)
    """From the allocation; with another one it is refused."""


class BridgeAsk(BridgeWord):
    """The question what is next."""

    skip: tuple[CallId, ...] = Field(default=(), max_length=64)
    """Calls it works on already."""
    wait_s: float = Field(default=0, ge=0, le=10)
    """How long the answer may wait for a call, seconds."""


class CallKind(StrEnum):
    """What a bridge is to do."""

    CALL = "call"
    """Carry it out."""
    LOOK_UP = "look_up"
    """Say whether the call with this key happened. Do nothing else."""


class BridgeCall(Contract):
    """One call of a capability, with everything bound."""

    call_id: CallId
    """Its name in verdict and receipt."""
    order_id: OrderId
    """The order."""
    step: StepId
    """The step of its plan."""
    kind: CallKind
    """What to do."""
    capability: CapabilityName
    """Of what."""
    effect: Effect
    """What it does to the world, as the organisation declares it."""
    ask_first: bool
    """Whether the gateway must be asked before anything is done."""
    arguments: dict[str, Json]
    """As they are to be used; they fit the declared parameters."""
    arguments_sha256: Sha256
    """Of their canonical JSON; the question for leave names it."""
    key: str
    """Idempotency key: the same for the same call after a crash. Hand it on to whatever carries the call out."""
    within_s: float = Field(gt=0)
    """How long the call may take, seconds."""


class BridgeNext(Contract):
    """What is next for an order: a call, or its end, or nothing yet."""

    call: BridgeCall | None = None
    """To be done now."""
    report: StatusReport | None = None
    """How the order ended or what it waits for; its slot was given back, forget it."""


class BridgeIntent(BridgeWord):
    """The question for leave, right before an effect."""

    call_id: CallId
    """Which call."""
    arguments_sha256: Sha256
    """Of what it is about to use."""


class VerdictKind(StrEnum):
    """What the gateway says to an intent."""

    ALLOWED = "allowed"
    """Do it, once, within `within_s` of when this was asked."""
    CARD = "card"
    """People have to decide first: do nothing. The order waits, and its slot was given back."""
    REFUSED = "refused"
    """It must not happen: do nothing. The order goes on without it, or ends; ask what is next."""
    PENDING = "pending"
    """Not decided yet: do nothing, and ask again."""


class BridgeVerdict(Contract):
    """What the gateway says to an intent."""

    verdict: VerdictKind
    """What it says."""
    key: str | None = None
    """Of one that is allowed: its idempotency key."""
    within_s: float | None = None
    """Of one that is allowed: it has to begin within so many seconds of when the question was sent, else ask again."""
    waiting_for: tuple[CardId | QuestionId, ...] = ()
    """What people have to decide."""
    code: str | None = None
    """Of one that is refused: why, for programs (`POLICY_VIOLATED`, `DENIED`, …)."""
    reason: str | None = None
    """The same in words."""


class CallOutcome(StrEnum):
    """How a call ended."""

    DONE = "done"
    """It was carried out; `output` is what it gave. Of a look-up: it happened."""
    FAILED = "failed"
    """It was not, or not surely; `happened` says which. Of a look-up: it cannot be told."""
    NOT_FOUND = "not_found"
    """Of a look-up: nothing of that key happened."""


class Happened(StrEnum):
    """Whether a call that failed changed anything."""

    NO = "no"
    """Surely not."""
    UNKNOWN = "unknown"
    """Nobody knows: it is looked up, or a person is asked."""


class BridgeFile(Contract):
    """A file that shows what was done."""

    kind: EvidenceKind = EvidenceKind.FILE
    """What it shows."""
    name: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}$")
    """File name as people see it."""
    media_type: str = Field(default="application/octet-stream", pattern=r"^[a-z]+/[a-z0-9.+-]{1,100}$")
    """RFC 6838."""
    content_base64: str = Field(max_length=1_400_000)
    """The bytes, in base64; they are hashed where they arrive."""


class BridgeReceipt(BridgeWord):
    """How a call ended."""

    call_id: CallId
    """Which call."""
    outcome: CallOutcome
    """How."""
    output: dict[str, Json] | None = None
    """What it gave; it must fit what the organisation declares."""
    category: ErrorCategory = ErrorCategory.UNKNOWN
    """Of one that failed: who can help, which decides whether it is tried again."""
    message: str = Field(default="", max_length=2_000)
    """Of one that failed: what went wrong, in words."""
    happened: Happened = Happened.UNKNOWN
    """Of one that failed: whether anything changed."""
    files: tuple[BridgeFile, ...] = Field(default=(), max_length=16)
    """Evidence: pictures, logs, protocols."""

    @model_validator(mode="after")
    def _says_what_its_outcome_needs(self) -> BridgeReceipt:
        if self.outcome is CallOutcome.DONE and self.output is None:
            raise ValueError("a call that was done needs its `output`")
        if self.outcome is CallOutcome.FAILED and not self.message:
            raise ValueError("a call that failed needs a `message`")
        return self


class BridgeTaken(Contract):
    """That a receipt counts."""

    call_id: CallId
    """The call."""
    again: bool = False
    """Whether it had a receipt before; the first one stands."""
