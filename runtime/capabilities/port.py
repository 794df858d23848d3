"""What a capability is, what it gets and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from contracts import (
    CardId,
    Effect,
    EvidenceItem,
    Json,
    Money,
    Parameter,
    PlausibilityRule,
    QuestionId,
    TaskOrder,
    Tier,
)
from runtime.canonical import sha256
from runtime.ledger.port import Append, NewEvent

if TYPE_CHECKING:
    import asyncio

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
    any_tier: bool = False
    """Whether skills of the other tier may call it too: it needs no slot, and tells only what the order came with."""
    policy: str | None = None
    """The approval rule of the organisation it falls under; absent means the default one."""
    labels: tuple[str, ...] = ()
    """Labels a node must have."""
    needs: tuple[str, ...] = ()
    """Limits that the slot's sandbox must hold, by the names that stand in `cannot_enforce`, such as `network`."""
    sandboxed: bool = False
    """Whether a call needs the sandbox of its slot, its folder or what runs in it; a slot at a bridge has none."""
    timeout_s: float | None = None
    """Seconds for one call, unless the step says otherwise; absent means the setting `engine.step_timeout_s`."""
    can_look_up: bool = False
    """Whether `lookup` can tell if an effect happened."""
    resources: tuple[str, ...] = ()
    """Parameters that take a text or the name of a file in the skill's folder (SQL, script, template). The loader puts
    `{"file": name, "text": content}` in the place of a file's name, so that an order carries all it needs."""
    every_call: bool = False
    """Whether each call counts: identical reads in progress are two, and what a model sends twice is done twice."""
    costs: tuple[Money, ...] | None = ()
    """The most that one call costs; empty where it costs nothing, None where nobody knows."""
    schema: Mapping[str, Json] | None = None
    """JSON Schema of the arguments, where the types of the parameters tell too little: a model sees it, and what is
    passed has to fit it too."""
    ends_step: bool = False
    """Whether what it gives is the result of the step in which a model calls it."""
    plausible: tuple[PlausibilityRule, ...] = ()
    """Rules that what it gives is looked at by when a model called it; what is odd by them is told to the model."""
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
                **({"costs": [str(money) for money in self.costs]} if self.costs else {}),
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
    """`wall_time`, `cpu_time`, `memory`, `disk`, `output`, `result`, `stopped` (a resident program, by its user),
    `signal` (killed from outside, unknown why), or None."""
    seconds: float
    answer: bytes = b""
    """What the runner wrote back, apart from what the script printed: JSON, see `cluster/sandbox/runner.py`."""


@dataclass(frozen=True, slots=True)
class Grants:
    """What one program gets beyond the usual of its slot. Trusted code decides it, never data or a model."""

    network: bool = False
    """The network of the machine, TCP and UDP; without it there is none. Unix sockets of services are never there."""
    read: tuple[Path, ...] = ()
    """Paths it may read beside its folder, the interpreter and the system's programs and libraries."""
    memory_mib: int | None = None
    """Memory of the program with all its children; absent means the setting `slot.memory_mib`."""
    reserves_memory: bool = False
    """Whether it reserves far more addresses than it uses, as browsers do: then only memory in use is limited."""
    processes: int | None = None
    """Processes and threads; absent means the setting `slot.processes`."""
    open_files: int | None = None
    """Open files of each process; absent means the setting `slot.open_files`."""
    cpu_s: float | None = None
    """CPU seconds of each process; absent means the setting `slot.cpu_s`."""


NO_GRANTS = Grants()


class Resident(Protocol):
    """A program that stays in the slot until it ends, is stopped or breaks a limit. Nothing of it survives the slot."""

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """What the program reads. Await `drain()`; it raises ConnectionError once the program is gone."""
        ...

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What the program writes; at its end, `b""`. Whoever reads slowly slows the program down, nothing is lost."""
        ...

    async def wait(self) -> SandboxResult:
        """Return how it ended, once it has, with `stdout` empty and the end of what it wrote to standard error.

        Any number of callers may wait; a cancelled wait leaves the program alone. When this returns, no process of the
        program runs any more. Exit code 127: there is no such program; 125: it could not be confined and never ran.
        """
        ...

    async def stop(self) -> SandboxResult:
        """End it with all it started; return how it ended: `killed_for` is `stopped`, unless it had ended already."""
        ...


class Sandbox(Protocol):
    """The slot as a capability sees it: a folder of its own and ways to run programs in it with limits."""

    @property
    def folder(self) -> Path:
        """The slot's own folder, as the trusted side and the programs see it. Programs start in it; it is their HOME.

        A program may leave links and pipes there: the trusted side opens files only by `slot_files`.
        """
        ...

    async def run_python(
        self, script: str, *, stdin: bytes = b"", wall_s: float | None = None, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        """Run `script` in a process of its own under the slot's limits; never raises for what the script does.

        Args:
            script: Python; it finds `inputs` and sets `result`.
            stdin: the JSON of `inputs`.
            wall_s: seconds from start to end; absent means the setting `slot.wall_s`.
            grants: what it gets beyond the usual.

        Raises:
            SiliconError: the sandbox itself does not work (`SANDBOX_BROKEN`); the script did not run.
        """
        ...

    async def start(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        grants: Grants = NO_GRANTS,
    ) -> Resident:
        """Start a program that stays, under the same limits, with pipes to its standard input and output.

        It runs until it ends by itself, `stop` is called, it breaks a limit, or the slot is closed. Several may run at
        once. A program that wants other descriptors gets them from a shell: `sh -c 'exec prog 3<&0 4>&1'`.

        Args:
            argv: the program, by path or by a name found in the PATH of the slot, and its arguments.
            environment: variables beside the few of the slot (PATH, HOME, LANG, TMPDIR); they win over those.
            wall_s: seconds until it is ended for `wall_time`; absent means as long as the slot is held.
            grants: what it gets beyond the usual.

        Raises:
            SiliconError: the sandbox itself does not work (`SANDBOX_BROKEN`). A program that is not there, or fails
                at once, is no error here: `wait` tells.
        """
        ...


@dataclass(slots=True)  # not frozen, nor is a result: that would take three times as long to make
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


@dataclass(slots=True)
class CallSeen:
    """What the router saw of a call, beside what it gave: together they are the evidence of the call."""

    arguments_sha256: str
    facts: Mapping[str, Json] = field(default_factory=dict)
    """`row_count`, and `shared_with`, the key of a call that it shared its result with."""


@dataclass(slots=True)
class CallResult:
    """What a call gave. `output` is cleaned and checked by the router, which also fills in `seen`."""

    output: Mapping[str, Any]
    evidence: Sequence[EvidenceItem] = ()
    """What the capability has to show beside the call itself."""
    files: Sequence[NewFile] = ()
    events: Sequence[NewEvent] = ()
    """Facts for the order's own stream, in the commit that finishes the step: `product.made`, `finding.made`."""
    appends: Sequence[Append] = ()
    """Facts for other streams, in the same commit: blackboard entries, cards."""
    query_sha256: str | None = None
    data_sha256: str | None = None
    seen: CallSeen | None = None


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


@runtime_checkable
class Instanced(Protocol):
    """A capability whose other side may be another one for somebody else, with a memory of its own."""

    def instance(self) -> str | None:
        """Return the name of the one that is called from here; None where there is only one."""
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
    cancelled: bool = False
    """Whether the work was cancelled: the effect is only found out about, and never carried out again."""
    way_back: str | None = None
    """The capability that takes the effect back after a cancellation, where one does."""
    gives: Mapping[str, Json] = field(default_factory=dict)
    """What the step expects of its output beyond the capability's declaration, field → type or JSON Schema."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The effect may happen. `appends` record that the approval is used up, in the commit of the intent."""

    card: CardId | None = None
    appends: Sequence[Append] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A doubtful effect happened, or a call was done by hand; what it gave as a person told it; empty, untold."""

    output: Mapping[str, Json]
    by: str
    card: CardId


@dataclass(frozen=True, slots=True)
class Refused:
    """The effect must not happen: a rule forbids it, or a person said no."""

    code: str
    """`POLICY_VIOLATED`, `DENIED`, `EXPIRED`, …"""
    reason: str
    facts: Mapping[str, Json] = field(default_factory=dict)
    """Of a rule's no: `rule`, `rule_version` and `request_sha256`; `unclear` where its condition could not be read."""


class Gate(Protocol):
    """What stands before every effect, on every road to it."""

    async def authorise(self, request: EffectRequest) -> Allowed | Waiting | Refused:
        """Say whether the effect may happen now; Waiting raises a card for a person."""
        ...

    async def in_doubt(self, request: EffectRequest) -> Waiting | Told | bool:
        """Ask a person whether an effect happened; a bool once they have said so: True means it happened.

        Where they also told what it gave, that is the answer.

        A card that offers what a cancellation has ruled out since is withdrawn for one that does not.
        """
        ...


@runtime_checkable
class Edits(Protocol):
    """A gate whose people may give a call other arguments before they approve it."""

    async def edited(self, request: EffectRequest) -> Mapping[str, Json] | None:
        """Return the arguments that were approved in the place of the request's own; None where they are its own."""
        ...
