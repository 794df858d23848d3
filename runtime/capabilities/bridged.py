"""`NAME.OPERATION` of a connection of kind `bridge`: calls that a bridge carries out on a node of its own.

The step engine does not know: it binds, asks the gate, commits the intent and stores what came back as for any other
capability. Here each call is laid before the bridge (`BridgeCalls`), and its receipt is awaited.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256 as sha256_of
from typing import Protocol

from contracts import (
    BridgeReceipt,
    CallId,
    CallKind,
    CallOutcome,
    CardId,
    Effect,
    ErrorCategory,
    EvidenceItem,
    EvidenceKind,
    Happened,
    Json,
    NodeId,
    OrderId,
    QuestionId,
    StepId,
)
from runtime.canonical import sha256
from runtime.capabilities.access import AsksForAccess
from runtime.capabilities.connections import BridgeConnection
from runtime.capabilities.placing import BRIDGED
from runtime.capabilities.port import (
    Allowed,
    CallContext,
    CallResult,
    CapabilitySpec,
    Edits,
    EffectRequest,
    Gate,
    NewFile,
    Refused,
    Told,
    Waiting,
)
from runtime.capabilities.router import fitting
from runtime.capabilities.specs import bridge_specs
from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    CapabilityTimeout,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
)
from runtime.settings.groups import EngineSettings

_FAULTS: Mapping[ErrorCategory, type[CapabilityFailed]] = {
    ErrorCategory.NETWORK: NetworkFault,
    ErrorCategory.INVALID_ARGUMENTS: InvalidArguments,
    ErrorCategory.PERMISSION: PermissionRefused,
    ErrorCategory.BUSINESS: BusinessRefusal,
    ErrorCategory.UNKNOWN: CapabilityFailed,
}


@dataclass(frozen=True, slots=True)
class Offer:
    """One call, as it is laid before a bridge."""

    order_id: OrderId
    step: StepId
    kind: CallKind
    capability: str
    effect: Effect
    ask_first: bool
    arguments: Mapping[str, Json]
    key: str
    within_s: float


class Handed(Protocol):
    """A call that lies before the bridge of its order. It is kept beside the ledger: any process may go on with it."""

    @property
    def call_id(self) -> CallId: ...  # noqa: D102

    @property
    def node_id(self) -> NodeId: ...  # noqa: D102

    async def until_asked(self) -> None:
        """Return once the bridge asks for leave."""
        ...

    async def allow(self) -> None:
        """Let the bridge carry it out; raise StaleWriter when the slot's lease does not surely hold."""
        ...

    async def put_to_people(self, ids: Sequence[CardId | QuestionId]) -> None:
        """Tell the bridge that people decide first."""
        ...

    async def refuse(self, code: str, reason: str) -> None:
        """Tell the bridge that it must not happen."""
        ...

    async def until_answered(self) -> BridgeReceipt:
        """Return the receipt."""
        ...

    async def withdraw(self) -> None:
        """Take it back as long as the bridge has no leave to change anything."""
        ...


class BridgeCalls(Protocol):
    """Lays calls before the bridge that holds the slot of their order."""

    async def offer(self, offer: Offer) -> Handed:
        """Lay a call before the bridge; the very same one that is not settled is taken up again.

        Raises:
            CapabilityFailed: no bridge holds the order, or this one does not carry that out (`happened: no`).
        """
        ...

    async def asked(self, order_id: OrderId, key: str, arguments: Mapping[str, Json]) -> Handed | None:
        """Return the call of that key, with these very arguments, for which the bridge asked leave and has none yet."""
        ...

    async def begun(self, order_id: OrderId, key: str) -> Handed | None:
        """Return the call of that key that the bridge which holds the order now had leave for."""
        ...

    async def never_begun(self, order_id: OrderId, key: str) -> bool:
        """Whether calls of that key were laid before bridges, and surely none of them ever had leave."""
        ...

    async def leave_over(self, order_id: OrderId, key: str) -> None:
        """Return once no bridge may begin with a call of that key any more; none is told anew that it may."""
        ...


class BridgedCapability:
    """The capability: one operation that bridges carry out."""

    def __init__(self, spec: CapabilitySpec, calls: BridgeCalls | None, *, can_tell: bool, timeout_s: float) -> None:
        self.spec = spec
        self._calls = calls
        self._can_tell = can_tell
        self._timeout_s = spec.timeout_s or timeout_s

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Have the bridge carry it out, after it asked for leave where the call changes something.

        Raises:
            CapabilityFailed: as the bridge says, in the class of its category.
        """
        calls = self._required()
        handed = await calls.asked(context.order.order_id, context.key, arguments)
        asks = handed is not None or self.spec.effect is not Effect.READ
        if handed is None:
            handed = await calls.offer(self._offer(context, CallKind.CALL, arguments, ask_first=asks))
        try:
            if asks:
                await handed.until_asked()
                await handed.allow()
            receipt = await handed.until_answered()
        finally:
            await asyncio.shield(handed.withdraw())
        if receipt.outcome is not CallOutcome.DONE:
            raise self._fault(receipt)
        return self._result(receipt, context, handed)

    async def lookup(self, key: str, context: CallContext) -> CallResult | None:
        """Return the result of the call with this key, None when it surely did not happen.

        The receipt of a bridge that holds the order still counts, even where whoever waited for it died meanwhile; so
        does that no bridge ever had leave. Else the bridge is asked, if it can tell, once every earlier leave has run
        out: until then whoever had it may still begin, and "it is not there" would say nothing.

        Raises:
            CapabilityFailed: it cannot be told.
        """
        calls, order_id = self._required(), context.order.order_id
        begun = await calls.begun(order_id, key)
        if begun is not None:
            receipt = await begun.until_answered()
            if receipt.outcome is CallOutcome.DONE:
                return self._result(receipt, context, begun)
            if receipt.happened is Happened.NO:
                return None
        elif await calls.never_begun(order_id, key):
            return None
        if not self._can_tell:
            raise CapabilityFailed(f"{self.spec.name} declares no `lookup`, so no bridge can tell.", use=self.spec.name)
        await calls.leave_over(order_id, key)
        return await self._ask(calls, key, context)

    async def _ask(self, calls: BridgeCalls, key: str, context: CallContext) -> CallResult | None:
        handed = await calls.offer(self._offer(context, CallKind.LOOK_UP, {}, ask_first=False, key=key))
        try:
            receipt = await handed.until_answered()
        finally:
            await asyncio.shield(handed.withdraw())
        if receipt.outcome is CallOutcome.NOT_FOUND:
            return None
        if receipt.outcome is CallOutcome.FAILED:
            raise self._fault(receipt)
        return self._result(receipt, context, handed)

    def _required(self) -> BridgeCalls:
        if self._calls is None:
            raise CapabilityFailed(
                f"{self.spec.name} is carried out by bridges, and this process hands no calls to any.",
                use=self.spec.name, happened="no",
            )  # fmt: skip
        return self._calls

    def _offer(
        self, context: CallContext, kind: CallKind, arguments: Mapping[str, Json], *, ask_first: bool,
        key: str | None = None,
    ) -> Offer:  # fmt: skip
        effect = self.spec.effect if kind is CallKind.CALL else Effect.READ
        return Offer(
            context.order.order_id, context.step, kind, self.spec.name, effect, ask_first, arguments,
            context.key if key is None else key, self._timeout_s,
        )  # fmt: skip

    def _fault(self, receipt: BridgeReceipt) -> CapabilityFailed:
        told: dict[str, Json] = {"happened": "no"} if receipt.happened is Happened.NO else {}
        message = receipt.message or "it said nothing more."
        return _FAULTS[receipt.category](
            f"{self.spec.name} failed at its bridge: {message}", use=self.spec.name, **told
        )

    def _result(self, receipt: BridgeReceipt, context: CallContext, handed: Handed) -> CallResult:
        output = receipt.output or {}
        facts: dict[str, Json] = {
            "idempotency_key": context.key, "call": handed.call_id, "node": handed.node_id, "fence": receipt.fence,
        }  # fmt: skip
        kind = EvidenceKind.RECEIPT if self.spec.effect.needs_gate else EvidenceKind.CALL
        items = [self._item(kind, context, sha256(output), facts)]
        files = []
        for sent in receipt.files:
            data = base64.b64decode(sent.content_base64)
            files.append(NewFile(sent.name, sent.media_type, data))
            shown: dict[str, Json] = {"name": sent.name, "size": len(data), "call": handed.call_id}
            items.append(self._item(sent.kind, context, sha256_of(data).hexdigest(), shown))
        return CallResult(output, evidence=tuple(items), files=tuple(files))

    def _item(self, kind: EvidenceKind, context: CallContext, digest: str, facts: dict[str, Json]) -> EvidenceItem:
        return EvidenceItem(
            kind=kind, at=context.now, step=context.step, capability=self.spec.name, sha256=digest, facts=facts
        )


class BridgedGate:
    """The gate, where a bridge carries the effect out: judged when the bridge asks for leave, right before the effect.

    What it asked for, and nothing else, is what is allowed: the call that the bridge holds has the hash of the
    arguments that were judged. Nobody is asked, and nothing announced, before the bridge is there to do it.
    """

    def __init__(
        self, gate: Gate, calls: BridgeCalls | None, *, timeout_s: float = EngineSettings().step_timeout_s
    ) -> None:
        self._gate = gate
        self._calls = calls
        self._timeout_s = timeout_s

    async def authorise(self, request: EffectRequest) -> Allowed | Waiting | Refused:
        """Wait until the bridge asks, then say what the gate says; see the port."""
        if request.spec.kind != BRIDGED or self._calls is None:
            return await self._gate.authorise(request)
        within_s = request.spec.timeout_s or self._timeout_s
        handed = await self._calls.offer(
            Offer(
                request.order.order_id, request.step, CallKind.CALL, request.spec.name, request.spec.effect, True,
                fitting(request.spec, request.arguments), request.key, within_s,
            )
        )  # fmt: skip
        answer: Allowed | Waiting | Refused | None = None
        try:
            async with asyncio.timeout(within_s):
                await handed.until_asked()
            answer = await self._gate.authorise(request)
            match answer:
                case Waiting():
                    await handed.put_to_people(answer.ids)
                case Refused():
                    await handed.refuse(answer.code, answer.reason)
            return answer
        except TimeoutError:
            raise CapabilityTimeout(
                f"The bridge did not ask for leave to call {request.spec.name} in {within_s:g} s; nothing was done.",
                use=request.spec.name, timeout_s=within_s, happened="no",
            ) from None  # fmt: skip
        finally:
            if answer is None:
                await asyncio.shield(handed.withdraw())

    async def in_doubt(self, request: EffectRequest) -> Waiting | Told | bool:
        """Ask a person whether an effect happened, once no bridge can begin with it any more; see the port."""
        if request.spec.kind == BRIDGED and self._calls is not None:
            await self._calls.leave_over(request.order.order_id, request.key)
        return await self._gate.in_doubt(request)

    async def edited(self, request: EffectRequest) -> Mapping[str, Json] | None:
        """Return the arguments that people approved in the place of the request's own; see the port."""
        return await self._gate.edited(request) if isinstance(self._gate, Edits) else None

    async def access(self, request: EffectRequest, why: str) -> Allowed | Waiting | Told | Refused | None:
        """Put a call to people to which the other side did not let us in; see the port."""
        return await self._gate.access(request, why) if isinstance(self._gate, AsksForAccess) else None


def bridged_capabilities(
    name: str, connection: BridgeConnection, calls: BridgeCalls | None,
    *, timeout_s: float = EngineSettings().step_timeout_s,
) -> list[BridgedCapability]:  # fmt: skip
    """Return a capability for each operation of a connection that bridges carry out."""
    lookups = [operation.lookup for operation in connection.operations.values()]
    specs = bridge_specs(name, connection)
    return [
        BridgedCapability(spec, calls, can_tell=can_tell, timeout_s=timeout_s)
        for spec, can_tell in zip(specs, lookups, strict=True)
    ]
