"""Addresses with a user and a password in them: shown without any part of it, and refused where parts run together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

from runtime.errors import SettingsError

BLOT = "[redacted]"
_QUERY = re.compile(r"(?i)([?&](?:[^=&]*(?:pass|secret|token|key)[^=&]*)=)([^&]*)")
_END = re.compile("[/?#]")
_FILES = "sqlite"
"""Addresses that begin so name a file, in whose path every sign is allowed; they hold no password."""
_QUOTED = "`%40` for @, `%2F` for /, `%3F` for ?, `%23` for # and `%25` for %"


def shown(address: str) -> str:
    """Return the address as people may see it: from the user's colon to the last `@` nothing is told."""
    scheme, sign, rest = address.partition("://")
    if not sign or scheme.startswith(_FILES):
        return address
    login, at, where = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    if at and (colon or not _is_plain(login)):
        rest = f"{user if _is_plain(user) else ''}:{BLOT}@{where}"
    return scheme + sign + _QUERY.sub(rf"\1{BLOT}", rest)


def secrets_in(address: str) -> Iterator[str]:
    """Yield every form in which the password of an address may turn up elsewhere."""
    scheme, _, rest = address.partition("://")
    if scheme.startswith(_FILES):
        return
    password = rest.rpartition("@")[0].partition(":")[2]
    found = [password, *(value for _, value in _QUERY.findall(rest))]
    for each in filter(None, found):
        yield from {each, unquote(each), unquote_plus(each)}


def require_quoted(address: str, *, name: str, by_standard: bool) -> None:
    """Raise SettingsError for an address whose password may reach into what is taken for its host, path or query.

    Args:
        name: the setting, for the message.
        by_standard: its reader ends the host at the first `/`, `?` or `#`; else user and password end at the first `@`.
    """
    scheme, _, rest = address.partition("://")
    if scheme.startswith(_FILES):
        return
    host = _END.split(rest, maxsplit=1)[0]
    if (host and "@" in rest[len(host) :]) if by_standard else rest.count("@") > 1:
        raise SettingsError(
            f"The setting `{name}` has a `@` or another sign of its own in the user name or password, so that nobody "
            f"can tell where its host begins. Write {_QUOTED} there, and for every `@` but the one before the host.",
            setting=name,
        )


def _is_plain(login: str) -> bool:
    return "@" not in login and _END.search(login) is None
