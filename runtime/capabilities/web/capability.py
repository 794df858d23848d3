"""`http.get`, `http.send`: one request to a host of the organisation's lists, redirects followed only while reading."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import sha256, to_bytes
from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections import AnyConnection
from runtime.capabilities.http_answer import fault_of
from runtime.capabilities.http_line import HttpLine, Request
from runtime.capabilities.http_request import text_of
from runtime.capabilities.new_files import describe
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.web.answer import answer_of
from runtime.capabilities.web.hosts import Hosts, Listed
from runtime.capabilities.web.specs import GET, web_specs
from runtime.errors import BusinessRefusal, CapabilityFailed, InvalidArguments, PermissionRefused
from runtime.settings import HttpSettings

if TYPE_CHECKING:
    import httpx

_MOVED = frozenset({301, 302, 303, 307, 308})


class Web:
    """The hosts of one organisation, and the ways to them."""

    def __init__(self, connections: Mapping[str, AnyConnection], settings: HttpSettings, secrets: Secrets) -> None:
        self.specs = web_specs(connections.values())
        self.redirects = settings.redirects
        self._hosts = Hosts(connections)
        self._settings = settings
        self._secrets = secrets
        self._lines: dict[str, HttpLine] = {}

    def require(self, url: str) -> Listed:
        """Return the entry under which an address may be called; raises as `Hosts.require`."""
        return self._hosts.require(url)

    async def exchange(self, request: Request, listed: Listed) -> tuple[httpx.Response, bytes]:
        """Return the answer and its bytes; raises as `HttpLine.exchange`."""
        line = self._lines.setdefault(
            listed.connection,
            HttpLine(listed.connection, allow_private=listed.declared.allow_private, settings=self._settings),
        )
        return await line.exchange(
            Request(
                request.call, request.method, request.url, {**request.headers, **self._own(listed)}, request.content
            )
        )

    async def close(self) -> None:
        """Close every connection."""
        for line in self._lines.values():
            await line.close()

    def _own(self, listed: Listed) -> dict[str, str]:
        """Return the headers with which one gets in there; nothing was sent when a secret is not set."""
        try:
            return {
                name: self._secrets.get(value.secret) if isinstance(value, Secret) else value
                for name, value in listed.declared.headers.items()
            }
        except CapabilityFailed as error:
            error.facts["happened"] = "no"
            raise


class HttpGet:
    """`http.get`."""

    def __init__(self, web: Web) -> None:
        self.spec, self._web = web.specs[0], web

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return what is at the address. A redirect is followed while it leads to hosts of the lists."""
        headers = {"Accept": _one_line("accept", str(arguments["accept"]))}
        url = _with_query(str(arguments["url"]), arguments.get("query"))
        for _ in range(self._web.redirects + 1):
            request = Request(self.spec.name, str(arguments["method"]), url, headers)
            response, body = await self._web.exchange(request, self._web.require(url))
            moved = response.headers.get("Location") if response.status_code in _MOVED else None
            if not moved:
                return _result(self.spec, url, response, body, context)
            url = self._next(url, moved)
        raise BusinessRefusal(
            f"{self.spec.name} was sent elsewhere more than {self._web.redirects} times, last to {url[:200]}.",
            call=self.spec.name,
        )

    def _next(self, url: str, moved: str) -> str:
        target = urljoin(url, moved)
        if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
            raise PermissionRefused(
                f"{self.spec.name} was sent from https to {target[:200]}, where anybody on the way could read along; "
                "that is not followed.",
                call=self.spec.name,
            )  # fmt: skip
        return target


class HttpSend:
    """`http.send`."""

    def __init__(self, web: Web) -> None:
        self.spec, self._web = web.specs[1], web

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Send it once, with the step's idempotency key, and return what came back; a redirect is not followed."""
        body, text = arguments.get("body"), arguments.get("text")
        if body is not None and text is not None:
            raise InvalidArguments("Give either `body` or `text`, not both.", happened="no")
        headers = {"Accept": "*/*", "Idempotency-Key": context.key}
        content = None
        if text is not None:
            headers["Content-Type"] = _one_line("media_type", str(arguments["media_type"]))
            content = str(text).encode()
        elif body is not None:
            headers["Content-Type"], content = "application/json", to_bytes(body)
        url = _with_query(str(arguments["url"]), arguments.get("query"))
        request = Request(self.spec.name, str(arguments["method"]), url, headers, content)
        response, answer = await self._web.exchange(request, self._web.require(url))
        return _result(self.spec, url, response, answer, context)


def web_capabilities(web: Web) -> list[HttpGet | HttpSend]:
    """Return both."""
    return [HttpGet(web), HttpSend(web)]


def _result(spec: CapabilitySpec, url: str, response: httpx.Response, body: bytes, context: CallContext) -> CallResult:
    status = response.status_code
    if response.is_redirect and spec.name != GET.name:
        raise PermissionRefused(
            f"{spec.name} was sent elsewhere ({status}), and what changes something is not sent a second time. Whether "
            "it took place is not known.",
            call=spec.name, status=status,
        )  # fmt: skip
    if not response.is_success:
        raise fault_of(spec.name, status, response.headers.get("Retry-After"), body)
    output, files = answer_of(url, status, response.headers, body)
    facts: dict[str, Json] = {"url": url, "status": status}
    if spec.effect.needs_gate:
        facts["idempotency_key"] = context.key
    kind = EvidenceKind.RECEIPT if spec.effect.needs_gate else EvidenceKind.CALL
    made = [_item(EvidenceKind.FILE, spec, context, sha256(file.data), describe(file)) for file in files]
    return CallResult(
        output, evidence=(_item(kind, spec, context, sha256(body), facts), *made), files=tuple(files),
        data_sha256=sha256(body) if status != HTTPStatus.NO_CONTENT else None,
    )  # fmt: skip


def _item(
    kind: EvidenceKind, spec: CapabilitySpec, context: CallContext, digest: str, facts: dict[str, Json]
) -> EvidenceItem:
    return EvidenceItem(kind=kind, at=context.now, step=context.step, capability=spec.name, sha256=digest, facts=facts)


def _with_query(url: str, query: Json) -> str:
    """Return the address with more in its query, each value quoted whole."""
    if not isinstance(query, dict) or not query:
        return url
    pairs = [(name, text_of(item)) for name, value in query.items() for item in _items(value) if item is not None]
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, urlencode(pairs))))))


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _one_line(name: str, text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise InvalidArguments(f"`{name}` takes plain text on one line.", happened="no")
    return text
