"""What a face needs of what is known of people; part of the port `Application`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from console.views_profile import PersonErasedView, ProfileView


class ProfilePort(Protocol):
    """How people like to be answered, what they look at, what they know. Each sees and changes their own alone."""

    async def profile(self, folder: Path, *, by: str | None) -> ProfileView:
        """Return what is known of whoever acts, and why; raise NobodyActs for the machine's own account."""
        ...

    async def set_profile(self, folder: Path, trait: str, value: str, *, by: str | None) -> ProfileView:
        """Let whoever acts say how it is; raise InvalidArguments."""
        ...

    async def forget_profile(
        self, folder: Path, *, by: str | None, trait: str | None = None, value: str | None = None
    ) -> ProfileView:
        """Erase one trait and value, or everything; raise NotFound where nothing is known of it."""
        ...

    async def erase_person(
        self, folder: Path, person: str, *, by: str | None, reason: str = "", sure: bool = False
    ) -> PersonErasedView:
        """Erase everything that is remembered of a person; without `sure` tell what that would be.

        Raises:
            PermissionRefused: it is done by the person, or by whoever operates the whole organisation.
            InvalidArguments: nobody says why.
        """
        ...
