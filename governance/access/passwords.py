"""Passwords: hashed slowly with argon2id, checked in the same time whether there is one or not."""

from __future__ import annotations

import asyncio
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING

from runtime.canonical import clean_text
from runtime.errors import InvalidArguments
from runtime.settings.access import AccessSettings

if TYPE_CHECKING:
    from argon2 import PasswordHasher  # 40 ms, which only whoever logs in pays for

LONGEST = 1_024
"""Characters of a password at most; what is longer only keeps the machine busy."""


class Passwords:
    """Makes and checks hashes; two at once, so that logins never take the machine's memory."""

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        self._busy = asyncio.Semaphore(2)

    def require_good(self, password: str) -> None:
        """Return when it can be a password; raise InvalidArguments, which does not tell it, otherwise."""
        least = self._settings.password_least
        if not least <= len(password) <= LONGEST:
            raise InvalidArguments(
                f"A password has {least} to {LONGEST:,} characters, and this one {len(password):,}. "
                "Several words that do not belong together are easy to keep in mind."
            )

    async def hash(self, password: str) -> str:
        """Return the hash, which names its own parameters; it takes a tenth of a second, in a thread."""
        async with self._busy:
            return await asyncio.to_thread(self._hasher.hash, _normal(password))

    async def fits(self, password: str, hashed: str | None) -> bool:
        """Whether the hash is that of the password; without a hash it is never so, and takes as long."""
        async with self._busy:
            return await asyncio.to_thread(self._fits, password[: LONGEST + 1], hashed)

    def is_old(self, hashed: str) -> bool:
        """Whether the hash was made with other parameters than those of now."""
        return self._hasher.check_needs_rehash(hashed)

    def _fits(self, password: str, hashed: str | None) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        nobodys = self._nobodys  # made with the first login, whoever that is
        try:
            self._hasher.verify(hashed or nobodys, _normal(password))
        except (InvalidHashError, VerificationError):
            return False
        return hashed is not None

    @cached_property
    def _hasher(self) -> PasswordHasher:
        from argon2 import PasswordHasher

        settings = self._settings
        return PasswordHasher(settings.argon2_passes, settings.argon2_memory_mib * 1_024, settings.argon2_lanes)

    @cached_property
    def _nobodys(self) -> str:
        """The hash that stands for a user who has none."""
        return self._hasher.hash("nobody has this password")


def _normal(password: str) -> str:
    """Return one form for what keyboards write in several (NFKC, RFC 8265), cleaned as every text that comes in."""
    return clean_text(unicodedata.normalize("NFKC", password))
