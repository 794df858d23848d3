"""The one place where a body comes in: read in bounds, strict JSON, cleaned. What a route gets is known to be sound."""

from __future__ import annotations

import asyncio
import json
import re

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.api.problems import problem
from runtime.canonical import clean
from runtime.settings.groups import ServerSettings
from runtime.strict_json import read_json

READ_S = 30.0
"""How long a body may take to come in."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")


class Bodies:
    """Reads the body of a request, refuses what is too large, too deep or not JSON, and hands on the clean form."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._bytes = settings.request_kib * 1024
        self._depth = settings.request_depth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a body that is sound, or refuse it."""
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except _Refused as refused:
            await refused.response(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        try:
            async with asyncio.timeout(READ_S):
                body = await self._bounded(scope, receive)
        except TimeoutError:
            raise _Refused(408, "BODY_TOO_SLOW", "The body came too slowly", "Send the request again.") from None
        if not body:
            return b""
        if not _is_json(_header(scope, b"content-type")):
            what = "The body has to be JSON: send `Content-Type: application/json`."
            raise _Refused(415, "UNSUPPORTED_MEDIA_TYPE", "Not JSON", what)
        if deeper_than(self._depth, body):
            what = f"The JSON is nested more than {self._depth} deep. The setting server.request_depth says how deep."
            raise _Refused(400, "BODY_TOO_DEEP", "The body is nested too deeply", what)
        return _sound(body)

    async def _bounded(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body; what is too large is not read to its end."""
        declared = _header(scope, b"content-length")
        if declared.isdigit() and int(declared) > self._bytes:
            raise self._too_large()
        parts = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Refused(400, "BODY_CUT", "The body is not whole", "The connection ended before the body did.")
            parts += message.get("body", b"")
            if len(parts) > self._bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(parts)

    def _too_large(self) -> _Refused:
        most = f"{self._bytes // 1024:,} KiB"
        what = f"The body is larger than {most}. The setting server.request_kib says how large it may be."
        return _Refused(413, "BODY_TOO_LARGE", "The body is too large", what)


class _Refused(Exception):
    def __init__(self, status: int, code: str, title: str, detail: str) -> None:
        super().__init__(detail)
        self.response: Response = problem(status, code, title, detail)


def deeper_than(depth: int, body: bytes) -> bool:
    """Whether brackets stand more than `depth` deep inside each other.

    The body is not parsed for that: all but its brackets is cut out, braces count as brackets, and then empty pairs are
    taken away, which peels one level each time. It all runs in C: a body of a MiB costs some hundredths of a second.
    """
    brackets = _STRING.sub(b"", body).translate(_ONE_KIND, _NO_BRACKETS)
    for _ in range(depth):
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > depth  # what never closes is no JSON, but may be deep


def _sound(body: bytes) -> bytes:
    """Return the canonical bytes of what the body means; raise what is wrong with it."""
    try:
        value = read_json(body.decode(), once=True)
    except (ValueError, RecursionError) as error:
        raise _Refused(400, "MALFORMED_BODY", "The body is not JSON", f"The body cannot be read: {error}.") from None
    return json.dumps(clean(value), ensure_ascii=False, allow_nan=False).encode()


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def has_body(scope: Scope) -> bool:
    """Whether the request says that a body comes with it."""
    return _header(scope, b"content-length") not in (b"", b"0") or _header(scope, b"transfer-encoding") != b""


def _is_json(content_type: bytes) -> bool:
    kind, _, parameters = content_type.decode("latin-1").lower().partition(";")
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", parameters)
    return kind.strip() == "application/json" and (charset is None or charset[1] in ("utf-8", "utf8"))


def _header(scope: Scope, name: bytes) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), b"")
