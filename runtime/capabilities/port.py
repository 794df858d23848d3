"""What a capability is, what it gets and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from contracts import CardId, Effect, EvidenceItem, Json, Parameter, QuestionId, TaskOrder, Tier
from runtime.canonical import sha256
from runtime.ledger.port import Append, NewEvent

if TYPE_CHECKING:
    from runtime.blackboard.port import Blackboard


@dataclass(frozen=True, slots=True)
class CapabilitySpec:
    """The declaration of a capability; its hash is part of every approval."""

    name: str
    """`connection.operation`, or the name of a built-in one."""
    kind: str
    """`builtin_tool`, `service_tool`, `sql`, …"""
    description: str
    parameters: Mapping[str, Parameter]
    gives: Mapping[str, Json]
    """Field → type name or JSON Schema of the output object."""
    effect: Effect = Effect.READ
    tier: Tier = Tier.EXECUTION
    policy: str | None = None
    """The approval rule of the organisation it falls under; absent means the default one."""
    labels: tuple[str, ...] = ()
    """Labels a node must have."""
    timeout_s: float | None = None
    """Seconds for one call, unless the step says otherwise; absent means the setting `engine.step_timeout_s`."""
    can_look_up: bool = False
    """Whether `lookup` can tell if an effect happened."""
    resources: tuple[str, ...] = ()
    """Parameters that take a text or the name of a file in the skill's folder (SQL, script, template). The loader puts
    `{"file": name, "text": content}` in the place of a file's name, so that an order carries all it needs."""
    open_arguments: bool = False
    """Whether arguments beside the declared parameters are accepted (scripts, templates)."""
    declaration: Mapping[str, Json] = field(default_factory=dict)
    """What else identifies it: address, method, body template. No secrets."""

    @property
    def sha256(self) -> str:
        """Hash of the whole declaration."""
        return sha256(
            {
                "name": self.name,
                "kind": self.kind,
                "parameters": {name: parameter.to_json() for name, parameter in self.parameters.items()},
                "effect": self.effect.value,
                "policy": self.policy,
                "declaration": dict(self.declaration),
            }
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an argument's value came from: a step's output, or an input of the order."""

    step: str
    """`employee/step`, or `input`."""
    path: str
    """JSON path inside that step's output."""
    result_sha256: str
    query_sha256: str | None = None
    data_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """How a program in the slot ended."""

    exit_code: int | None
    """None when it was killed."""
    stdout: str
    stderr: str
    killed_for: str | None
    """`wall_time`, `cpu_time`, `memory`, `output`, `result`, `signal` (killed from outside, unknown why), or None."""
    seconds: float
    answer: bytes = b""
    """What the runner wrote back, apart from what the script printed: JSON, see `cluster/sandbox/runner.py`."""


class Sandbox(Protocol):
    """The slot as a capability sees it: a folder of its own and a way to run a program in it with limits."""

    @property
    def folder(self) -> Path: ...  # noqa: D102

    async def run_python(self, script: str, *, stdin: bytes = b"", wall_s: float | None = None) -> SandboxResult:
        """Run `script` in a process of its own under the slot's limits; never raises for what the script does."""
        ...


@dataclass(frozen=True, slots=True)
class CallContext:
    """All a capability may know about why it is called."""

    order: TaskOrder
    step: str
    key: str
    """Idempotency key of this call: the same after a crash, different for every other call."""
    attempt: int
    now: datetime
    sandbox: Sandbox | None = None
    blackboard: Blackboard | None = None
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Argument → where its value came from."""
    pending: tuple[CardId | QuestionId, ...] = ()
    """What this step raised earlier and waits for; empty on the first call."""
    previous_error: str | None = None

    @property
    def known_at(self) -> datetime:
        """The moment as of which data may be seen."""
        return self.order.known_at or self.now


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a call made."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call gave. `output` is cleaned and checked by the router."""

    output: Mapping[str, Any]
    evidence: Sequence[EvidenceItem] = ()
    files: Sequence[NewFile] = ()
    events: Sequence[NewEvent] = ()
    """Facts for the order's own stream, in the commit that finishes the step: `product.made`, `finding.made`."""
    appends: Sequence[Append] = ()
    """Facts for other streams, in the same commit: blackboard entries, cards."""
    query_sha256: str | None = None
    data_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The call goes on when people have answered; `appends` raise what they see, in the commit of the wait."""

    ids: tuple[CardId | QuestionId, ...]
    appends: Sequence[Append] = ()


class Capability(Protocol):
    """One thing an employee can do."""

    @property
    def spec(self) -> CapabilitySpec: ...  # noqa: D102

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Do it.

        Raises:
            CapabilityFailed: with the subclass that says who can help.
        """
        ...


class LookUp(Protocol):
    """A capability that can tell whether an effect happened."""

    async def lookup(self, key: str, context: CallContext) -> CallResult | None:
        """Return the result the call with this key had, or None when it did not happen.

        Raises:
            NetworkFault: it cannot be told now.
        """
        ...


@dataclass(frozen=True, slots=True)
class EffectRequest:
    """An effect about to happen, exactly as it will."""

    order: TaskOrder
    step: str
    spec: CapabilitySpec
    arguments: Mapping[str, Json]
    key: str
    pending: tuple[CardId, ...] = ()
    """Cards this step raised earlier for this effect."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The effect may happen. `appends` record that the approval is used up, in the commit of the intent."""

    card: CardId | None = None
    appends: Sequence[Append] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The effect must not happen: a rule forbids it, or a person said no."""

    code: str
    """`POLICY_VIOLATED`, `DENIED`, `EXPIRED`, …"""
    reason: str


class Gate(Protocol):
    """What stands before every effect, on every road to it."""

    async def authorise(self, request: EffectRequest) -> Allowed | Waiting | Refused:
        """Say whether the effect may happen now; Waiting raises a card for a person."""
        ...

    async def in_doubt(self, request: EffectRequest) -> Waiting | bool:
        """Ask a person whether an effect happened; a bool once they have said so: True means it happened."""
        ...
