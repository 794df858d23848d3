"""`NAME.OPERATION`: declared calls of one HTTP service. Nothing else of it, and nothing beside it, can be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import sha256, to_bytes
from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections import HttpConnection
from runtime.capabilities.http_answer import fault_of, result_of
from runtime.capabilities.http_line import HttpLine, Request
from runtime.capabilities.http_request import Outgoing, fill, outgoing
from runtime.capabilities.port import CallContext, CallResult
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.specs import operation_spec
from runtime.errors import CapabilityFailed, NetworkFault
from runtime.settings import HttpSettings

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens and how one gets in."""

    base: str
    token: str | None = None


class Local(Protocol):
    """A service that runs here."""

    async def locate(self) -> Address:
        """Return where it is now; it is started when it is not there."""
        ...

    def instance(self) -> str:
        """Return what tells its data from that of the same service elsewhere."""
        ...


class HttpService:
    """One service: its HTTP client, built once, its address and its headers."""

    def __init__(
        self, name: str, connection: HttpConnection, *, settings: HttpSettings, secrets: Secrets, local: Local | None
    ) -> None:
        self.name = name
        self._connection = connection
        self._secrets = secrets
        self.local = local
        private = connection.allow_private or connection.service is not None
        self._line = HttpLine(name, allow_private=private, settings=settings)

    async def request(self, out: Outgoing) -> tuple[httpx.Response, bytes]:
        """Return the answer and its bytes.

        Raises:
            NetworkFault: no whole answer came back.
            CapabilityFailed: as the subclass says. As long as nothing was sent, its facts say that nothing happened.
        """
        try:
            base, own = await self.entrance()
        except CapabilityFailed as error:
            error.facts["happened"] = "no"
            raise
        headers = {**out.headers, **own, "Idempotency-Key": out.key}
        content = None if out.body is None else to_bytes(out.body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        return await self._line.exchange(Request(out.call, out.method, base + out.path, headers, content, out.query))

    async def entrance(self) -> tuple[str, dict[str, str]]:
        """Return the address every path is below, and the headers with which one gets in."""
        headers = {name: self._value(value) for name, value in self._connection.headers.items()}
        address = await self._address()
        if address.token:
            headers["Authorization"] = f"Bearer {address.token}"
        return address.base.rstrip("/"), headers

    async def close(self) -> None:
        """Close every connection."""
        await self._line.close()

    async def _address(self) -> Address:
        if self.local is not None:
            return await self.local.locate()
        assert self._connection.base is not None
        return Address(self._connection.base)

    def _value(self, header: str | Secret) -> str:
        return self._secrets.get(header.secret) if isinstance(header, Secret) else header


class HttpOperation:
    """The capability: one operation of one service."""

    def __init__(self, service: HttpService, connection: HttpConnection, name: str, settings: HttpSettings) -> None:
        self.spec = operation_spec(service.name, connection, name, settings)
        self._service = service
        self._operation = connection.operations[name]

    def instance(self) -> str | None:
        """Return which of several services of this name is meant here; None where every home calls the same one."""
        return None if self._service.local is None else self._service.local.instance()

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Send the call with the step's idempotency key and return the JSON object that came back."""
        out = outgoing(self.spec.name, self._operation, arguments, context.key)
        response, body = await self._service.request(out)
        return self._result(response, body, context, context.key)

    async def lookup(self, key: str, context: CallContext) -> CallResult | None:
        """Return the result the call with this key had, None when the service knows nothing of it."""
        if self._operation.lookup is None:
            raise NetworkFault(f"{self.spec.name} declares no `lookup`, so nobody can tell.", call=self.spec.name)
        path, _ = fill(self._operation.lookup, {"key": key})
        response, body = await self._service.request(Outgoing(f"{self.spec.name} (look-up)", "GET", path, key))
        if response.status_code == HTTPStatus.NOT_FOUND:
            return None
        return self._result(response, body, context, key)

    def _result(self, response: httpx.Response, body: bytes, context: CallContext, key: str) -> CallResult:
        name = self.spec.name
        if not response.is_success:
            raise fault_of(name, response.status_code, response.headers.get("Retry-After"), body)
        output = result_of(name, response.status_code, response.headers.get("Content-Type", ""), body)
        facts: dict[str, Json] = {
            "status": response.status_code,
            "idempotency_key": key,
            "replayed": response.headers.get("Idempotent-Replay") == "true",
        }
        kind = EvidenceKind.RECEIPT if self._operation.does.needs_gate else EvidenceKind.CALL
        item = EvidenceItem(
            kind=kind, at=context.now, step=context.step, capability=name, sha256=sha256(output), facts=facts
        )
        return CallResult(output, evidence=(item,))


def http_capabilities(
    name: str, connection: HttpConnection, *, settings: HttpSettings, secrets: Secrets, local: Local | None = None
) -> tuple[HttpService, list[HttpOperation]]:
    """Return the service (close it at the end) and a capability for each of its operations."""
    service = HttpService(name, connection, settings=settings, secrets=secrets, local=local)
    return service, [HttpOperation(service, connection, operation, settings) for operation in connection.operations]
