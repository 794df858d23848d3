"""Takes secrets out of values before they are stored, logged or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runtime.canonical import Told

BLOT = "[redacted]"

_LEAST_LENGTH = 6
"""A registered secret shorter than this is passed over: it would blot out ordinary words."""

_FEW_KEYS = 32
"""Objects with more are tables of somebody's data, whose keys do not come again."""

_MOST_HOLDERS = 10_000
"""Objects and lists that are looked through; a ring would have no end."""

_SECRET_KEY = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|secrets?|api_?key|access_?key|private_?key|auth|authori[sz]ation"
    r"|credentials?|(?:set_)?cookie|token)$"
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")
_MARKS = ("://", "bearer", "basic", "key", "passw", "secret", "token", "sk-", "akia", "asia", "xox", "eyj", "aiza",
          "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "silicon_")  # fmt: skip
"""No shape matches a text that has none of these; looking for them is far cheaper than matching."""
_MARKS_OF_LETTERS = ("akia", "asia", "aiza")
"""Of shapes that may consist of letters and digits alone."""
# Orders carry scripts and queries, and a changed script would run differently: a shape has to be beyond doubt.
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        BLOT,
    ),
    (re.compile(r"\b((?:bearer|basic)\s+)(?=\S*\d|\S{20,})[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{BLOT}"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{12,}"), BLOT),
    (re.compile(r"\bsilicon_[0-7][0-9A-HJKMNP-TV-Z]{25}_[A-Za-z0-9_-]{43}"), BLOT),
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

_PLAIN_KINDS = frozenset({int, float, bool, Told})
"""Of values that hold no secret, or were found to hold none before."""

_registered: set[str] = set()
_known: re.Pattern[str] | None = None
_keys: dict[str, bool] = {}
_plain: set[tuple[str, ...]] = set()
"""Keys of objects seen before, none of which names a secret: events of one type have the same."""
_harmless: set[str] = set()
"""Short texts seen before: names and ids come again and again."""
_now_known = object()
"""Stands for what is known of secrets now; another object once another secret was registered."""


def register(secrets: Iterable[str]) -> None:
    """Blot out these exact values from now on, wherever they turn up in this process."""
    global _known, _now_known  # noqa: PLW0603 - secrets belong to the process: one forgotten handle would print them
    _registered.update(secret for secret in secrets if len(secret) >= _LEAST_LENGTH)
    longest_first = sorted(_registered, key=len, reverse=True)
    _known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
    _harmless.clear()
    _now_known = object()


def holds_none(value: Any) -> bool:
    """Whether `redact` would surely return an equal value; False may mean that it takes a longer look to tell.

    It makes nothing and looks at the keys of an object together, which takes half the time. What is told in several
    places is looked through once, until another secret is registered.
    """
    within = [value]
    if not _hold_none(within):
        return False
    for holder in within:
        if type(holder) is Told:
            holder.found_plain = _now_known
    return True


def _hold_none(within: list[Any]) -> bool:
    """Look through these and, taking them in behind, all objects and lists in them."""
    for holder in within:  # which grows meanwhile
        kind = type(holder)
        if len(within) > _MOST_HOLDERS:
            return False
        if kind is dict or kind is Told:
            if not _are_plain(tuple(holder)):
                return False
            items = holder.values()
        elif kind is list or kind is tuple:
            items = holder
        else:
            return False
        for item in items:
            kind = type(item)
            if kind is str:
                if item not in _harmless and _text(item) != item:
                    return False
            elif kind is dict or kind is list or kind is tuple or (kind is Told and item.found_plain is not _now_known):
                within.append(item)
            elif item is not None and kind not in _PLAIN_KINDS:
                return False
    return True


def redact(value: Any) -> Any:
    """Return `value` with every secret in it replaced by `[redacted]`; what holds none is returned as it is.

    A secret is: the value under a key that names one, text in the shape of one, and a registered value.
    """
    return value if holds_none(value) else _redacted(value)


def _redacted(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value)
    if isinstance(value, Mapping):
        return {key: _under(key, item) for key, item in value.items()}
    if kind is list:
        return [_redacted(item) for item in value]
    if kind is tuple:
        return tuple([_redacted(item) for item in value])
    return _text(value) if isinstance(value, str) else value


def _under(key: Any, value: Any) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if type(key) is str and _names_a_secret(key):
        return value if value == "" else BLOT
    return value if kind is int or kind is float else _redacted(value)


def _are_plain(keys: tuple[Any, ...]) -> bool:
    if keys in _plain:
        return True
    if not all(type(key) is str and not _names_a_secret(key) for key in keys):
        return False
    if len(keys) <= _FEW_KEYS:
        if len(_plain) >= 10_000:
            _plain.clear()
        _plain.add(keys)
    return True


def _names_a_secret(key: str) -> bool:
    known = _keys.get(key)
    if known is None:
        known = bool(_SECRET_KEY.search(_WORDS.sub("_", key).lower()))
        if len(_keys) < 10_000:
            _keys[key] = known
    return known


def _text(text: str) -> str:
    if text in _harmless:
        return text
    clean = text if len(text) < _LEAST_LENGTH else _without_secrets(text)
    if clean == text and len(text) <= 40:
        if len(_harmless) >= 10_000:
            _harmless.clear()
        _harmless.add(text)
    return clean


def _without_secrets(text: str) -> str:
    clean = _known.sub(BLOT, text) if _known is not None else text
    lower = clean.lower()
    marks = _MARKS_OF_LETTERS if lower.isalnum() else _MARKS
    if any(map(lower.__contains__, marks)):
        for shape, blot in _SHAPES:
            clean = shape.sub(blot, clean)
    return clean
