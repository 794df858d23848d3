"""What every request passes before a route is looked for: who asks, and how often. No road leads around it."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections import OrderedDict
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.api.bodies import has_body
from console.api.cookies import comes_from_elsewhere, session_in
from console.api.problems import RETRY_S, problem, problem_of, unexpected
from console.ports import Application
from governance.access import Principal, RateLimiter
from runtime.errors import LedgerError, SiliconError
from runtime.telemetry.context import working_on

OPEN = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that need no token: none of them tells whose work it is."""

_KNOWN = 1_000
_log = logging.getLogger(__name__)


class Telling:
    """Gives each request a number, and makes a problem of every error that nobody else caught."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, begun, whole = secrets.token_hex(8), False, not has_body(scope)

        async def received() -> Message:
            nonlocal whole
            message = await receive()
            whole = whole or not message.get("more_body", False)
            return message

        async def numbered(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                more = [(b"x-request-id", request_id.encode()), (b"x-content-type-options", b"nosniff")]
                end = [] if whole else [(b"connection", b"close")]  # else the rest of the body would be read for ever
                message["headers"] = [*message.get("headers", ()), *more, *end]
            await send(message)

        with working_on(trace_id=request_id):
            try:
                await self._app(scope, received, numbered)
            except Exception:  # the last place before the client
                _log.exception("a request failed", extra={"method": scope["method"], "path": scope["path"]})
                if begun:
                    raise  # the connection is closed, so that half an answer is not taken for a whole one
                await unexpected()(scope, receive, numbered)


class Authentication:
    """Lets nobody in without a token that counts now, and no address try many that do not.

    Tokens that were good lately pass also while others from the same address fail: behind a proxy all share one.
    """

    def __init__(
        self, app: ASGIApp, application: Application, failures: RateLimiter, of_bridges: str, login: str
    ) -> None:
        self._app = app
        self._of_bridges = of_bridges
        """What the paths begin with that bridges may use; they may use no other."""
        self._login = login
        """Where people log in: a POST there has nothing yet that says who they are."""
        self._application = application
        self._failures = failures
        self._good: OrderedDict[bytes, None] = OrderedDict()
        """Hashes of tokens that were good lately. They are proven again with each request all the same."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its principal, or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN or self._logs_in(scope):
            await self._app(scope, receive, send)
            return
        found = await self._principal(scope)
        if not isinstance(found, Principal):
            await found(scope, receive, send)
            return
        if found.bridge is not None and not str(scope["path"]).startswith(self._of_bridges):
            what = f"The token {found.name} is a bridge's: it may use {self._of_bridges}… and nothing else."
            await problem(403, "BRIDGES_ONLY", "Not for bridges", what)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = found
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal | ASGIApp:
        """Return who asks, or the response that refuses."""
        token = _bearer(scope)
        if token is None:
            return await self._of_session(scope)
        digest = hashlib.sha256(token.encode()).digest()
        address = str((scope.get("client") or ("",))[0])
        wait_s = self._failures.wait_s(address)
        if wait_s and digest not in self._good:
            what = "Too many requests with wrong tokens came from this address."
            return problem(429, "TOO_MANY_FAILURES", "Too many wrong tokens", what, retry_s=wait_s)
        try:
            principal = await self._application.authenticate(token)
        except LedgerError as error:
            _log.warning("nobody can be let in while the ledger is away: %s", error)
            what = "Tokens cannot be checked at the moment. Try again."
            return problem(503, "NOT_READY", "Not ready", what, retry_s=RETRY_S)
        except SiliconError as error:  # the token is proven, but its person is not there, or cannot be looked up
            return problem_of(error)
        if principal is None:
            self._good.pop(digest, None)
            self._failures.take(address)
            return _refused("The token counts for nothing: it is wrong or was revoked.", 'Bearer error="invalid_token"')
        self._remember(digest)
        return principal

    async def _of_session(self, scope: Scope) -> Principal | ASGIApp:
        """Return who asks by the cookie of a session, or the response that refuses."""
        text = session_in(scope)
        if text is None:
            what = "This needs a token or a session: send `Authorization: Bearer silicon_…`, or log in."
            return _refused(what, "Bearer")
        if comes_from_elsewhere(scope):
            what = "A page of another site asks for this in the name of whoever is logged in here."
            return problem(403, "FROM_ANOTHER_SITE", "From another site", what)
        try:
            principal = await self._application.of_session(text)
        except LedgerError as error:
            _log.warning("nobody can be let in while the ledger is away: %s", error)
            what = "Sessions cannot be checked at the moment. Try again."
            return problem(503, "NOT_READY", "Not ready", what, retry_s=RETRY_S)
        except SiliconError as error:
            return problem_of(error)
        if principal is None:
            return _refused("The session is over, or it never was one. Log in again.", "Bearer")
        return principal

    def _logs_in(self, scope: Scope) -> bool:
        return bool(scope["path"] == self._login and scope["method"] == "POST")

    def _remember(self, digest: bytes) -> None:
        self._good[digest] = None
        self._good.move_to_end(digest)
        while len(self._good) > _KNOWN:
            self._good.popitem(last=False)


class Rates:
    """Lets each principal through so many times in a second."""

    def __init__(self, app: ASGIApp, limiter: RateLimiter) -> None:
        self._app = app
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or say when it may come again."""
        principal: Principal | None = scope.get("state", {}).get("principal")
        wait_s = self._limiter.take(principal.id) if principal is not None else 0
        if wait_s:
            what = f"{principal.name if principal else ''} asks too often. Wait as long as Retry-After says."
            response = problem(429, "RATE_LIMITED", "Too many requests", what, retry_s=wait_s)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _refused(detail: str, challenge: str) -> ASGIApp:
    headers = {"WWW-Authenticate": challenge}
    return problem(401, "UNAUTHENTICATED", "No token that counts", detail, headers=headers)


def _bearer(scope: Scope) -> str | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    given: list[Any] = [value for name, value in headers if name == b"authorization"]
    if len(given) != 1:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
