"""What an HTTP answer means: a result, or the error that says who can help."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from contracts import Json
from runtime.canonical import clean
from runtime.errors import (
    AccessDenied,
    BusinessRefusal,
    CapabilityFailed,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
)

_SHOWN = 300
_NO = frozenset({400, 401, 402, 403, 404, 405, 409, 410, 412, 413, 415, 422, 423, 428, 429, 451})
"""Statuses with which a service itself says that it did not do what was asked (RFC 9110, 15.5; RFC 6585). A time-out
on the way (408), a redirect and whatever else there is leave that open."""
LONGEST_WAIT_S = 366 * 86_400.0
"""What asks for longer asks for this."""


def result_of(call: str, status: int, media_type: str, body: bytes) -> dict[str, Json]:
    """Return the JSON object of a good answer; raise BusinessRefusal when it is anything else.

    What cannot be read says nothing about what the service did, so the refusal leaves that open.
    """
    if not body and status in (200, 201, 202, 204):
        return {}
    try:
        value = clean(json.loads(body)) if "json" in media_type or not media_type else None
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {"items": value}
    raise BusinessRefusal(
        f"{call} answered with {media_type or 'something'} that is not a JSON object: {_shown(body)}", call=call
    )


def fault_of(call: str, status: int, retry_after: str | None, body: bytes) -> CapabilityFailed:
    """Return the error for an answer that is not a result."""
    said = _shown(body)
    facts: dict[str, Json] = {"call": call, "status": status}
    if status in _NO:
        facts["happened"] = "no"
    match status:
        case 429 | 503:
            wait_s = retry_after_s(retry_after)
            when = f" It asks to wait {wait_s:g} s." if wait_s is not None else ""
            asked: dict[str, Json] = {} if wait_s is None else {"retry_after_s": wait_s}
            return NetworkFault(f"{call} is busy ({status}).{when} It said: {said}", **facts, **asked)
        case 401 | 403:
            return AccessDenied(
                f"{call} refused access ({status}): {said}. Look at the connection's headers and secrets.", **facts
            )
        case 400 | 422:
            return InvalidArguments(f"{call} did not accept the arguments ({status}): {said}", **facts)
        case _ if 300 <= status < 400:
            return PermissionRefused(
                f"{call} was sent elsewhere ({status}); only the declared address is called. "
                "If it moved, change `base` in connections.yaml.", **facts,
            )  # fmt: skip
        case _ if status >= 500:
            return NetworkFault(f"{call} failed on its own side ({status}): {said}", **facts)
    return BusinessRefusal(f"{call} said no ({status}): {said}", **facts)


def retry_after_s(header: str | None) -> float | None:
    """Return how many seconds a `Retry-After` header asks to wait (RFC 9110, 10.2.3), None when it says nothing."""
    if not header:
        return None
    number = header.strip()
    if number.isascii() and number.isdigit():
        return min(float(number), LONGEST_WAIT_S)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - datetime.now(UTC)).total_seconds()), LONGEST_WAIT_S)


def _shown(body: bytes) -> str:
    text = " ".join(str(clean(body)).split())
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        told = [str(value[key]) for key in ("detail", "message", "error", "title") if isinstance(value.get(key), str)]
        text = told[0] if told else text
    return text[:_SHOWN] or "nothing"
