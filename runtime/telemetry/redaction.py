"""Takes secrets out of values before they are stored, logged or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

BLOT = "[redacted]"

_LEAST_LENGTH = 6
"""A registered secret shorter than this is passed over: it would blot out ordinary words."""

_SECRET_KEY = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|secrets?|api_?key|access_?key|private_?key|auth|authori[sz]ation"
    r"|credentials?|(?:set_)?cookie|token)$"
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")
_MARKS = ("://", "bearer", "basic", "key", "passw", "secret", "token", "sk-", "akia", "asia", "xox", "eyj", "aiza",
          "ghp_", "gho_", "ghu_", "ghs_", "ghr_")  # fmt: skip
"""No shape matches a text that has none of these; looking for them is far cheaper than matching."""
# Orders carry scripts and queries, and a changed script would run differently: a shape has to be beyond doubt.
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        BLOT,
    ),
    (re.compile(r"\b((?:bearer|basic)\s+)(?=\S*\d|\S{20,})[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{BLOT}"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{12,}"), BLOT),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), BLOT),
    (re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}"), BLOT),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"), BLOT),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), BLOT),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), BLOT),
    (re.compile(r"(://[^/\s:@{}]*:)[^/\s@{}]+(@)"), rf"\1{BLOT}\2"),
    (
        re.compile(
            r"(?i)\b((?:password|passwd|secret|token|api[_-]?key|access[_-]?key)(?:=|: ?))"
            r"(?=\S*\d)[A-Za-z0-9+/_~!#$%^*-]{6,}(?=$|[\s,;&\"'])"
        ),
        rf"\1{BLOT}",
    ),
)

_registered: set[str] = set()
_known: re.Pattern[str] | None = None
_keys: dict[str, bool] = {}
_harmless: set[str] = set()
"""Short texts seen before: names and ids come again and again."""


def register(secrets: Iterable[str]) -> None:
    """Blot out these exact values from now on, wherever they turn up in this process."""
    global _known  # noqa: PLW0603 - secrets belong to the process: one forgotten handle would print them
    _registered.update(secret for secret in secrets if len(secret) >= _LEAST_LENGTH)
    longest_first = sorted(_registered, key=len, reverse=True)
    _known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
    _harmless.clear()


def redact(value: Any) -> Any:
    """Return `value` with every secret in it replaced by `[redacted]`; what holds none is returned as it is.

    A secret is: the value under a key that names one, text in the shape of one, and a registered value.
    """
    kind = type(value)
    if kind is str:
        return _text(value)
    if kind is dict or isinstance(value, Mapping):
        return {key: _under(key, item) for key, item in value.items()}
    if kind is list:
        return [redact(item) for item in value]
    if kind is tuple:
        return tuple([redact(item) for item in value])
    return _text(value) if isinstance(value, str) else value


def _under(key: Any, value: Any) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if type(key) is str and _names_a_secret(key):
        return value if value == "" else BLOT
    return value if kind is int or kind is float else redact(value)


def _names_a_secret(key: str) -> bool:
    known = _keys.get(key)
    if known is None:
        known = bool(_SECRET_KEY.search(_WORDS.sub("_", key).lower()))
        if len(_keys) < 10_000:
            _keys[key] = known
    return known


def _text(text: str) -> str:
    if len(text) < _LEAST_LENGTH or text in _harmless:
        return text
    clean = _known.sub(BLOT, text) if _known is not None else text
    lower = clean.lower()
    if (not lower.isalnum() or "akia" in lower or "asia" in lower) and any(map(lower.__contains__, _MARKS)):
        for shape, blot in _SHAPES:
            clean = shape.sub(blot, clean)
    if clean == text and len(text) <= 40:
        if len(_harmless) >= 10_000:
            _harmless.clear()
        _harmless.add(text)
    return clean
