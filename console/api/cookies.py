"""The cookie of a session, and what keeps other sites from using it."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Scope

NAME = "silicon_session"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def set_cookie(text: str, *, within_s: float, secure: bool) -> str:
    """Return the header that gives a browser its session: no script reads it, no other site sends it with a change."""
    return f"{NAME}={text}; Max-Age={int(within_s)}; {_rules(secure=secure)}"


def clear_cookie(*, secure: bool) -> str:
    """Return the header that takes it away again."""
    return f"{NAME}=; Max-Age=0; {_rules(secure=secure)}"


def session_in(scope: Scope) -> str | None:
    """Return the text of the session that a request came with."""
    for header in _values(scope, b"cookie"):
        try:
            cookie = SimpleCookie(header)
        except CookieError:
            continue
        if NAME in cookie:
            return cookie[NAME].value
    return None


def comes_from_elsewhere(scope: Scope) -> bool:
    """Whether a page of another site makes this request, and it is one that changes something.

    SameSite=Lax keeps the cookie back already; browsers that do not know it say at least where a request comes from.
    """
    if scope["method"] in _SAFE:
        return False
    site = next(iter(_values(scope, b"sec-fetch-site")), None)
    if site is not None:
        return site not in ("same-origin", "none")
    origin = next(iter(_values(scope, b"origin")), None)
    host = next(iter(_values(scope, b"host")), "")
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def _rules(*, secure: bool) -> str:
    return "Path=/; HttpOnly; SameSite=Lax" + ("; Secure" if secure else "")


def _values(scope: Scope, name: bytes) -> list[str]:
    headers: list[tuple[bytes, Any]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == name]
