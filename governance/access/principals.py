"""Who stands behind a request that comes in from outside, and what they may see and be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contracts import Name
from runtime.errors import PermissionRefused


@dataclass(frozen=True, slots=True)
class BridgeRights:
    """What a bridge that speaks HTTP may be, and nothing else: it is no person and sees no execution."""

    organisations: tuple[Name, ...]
    """Whose orders it may get."""
    labels: tuple[str, ...] = ()
    """What its nodes may offer."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever a token speaks for: one person of one organisation, an administrator of all of them, or a bridge.

    It only says who asks. What that person may do is decided where it is done, by the organisation's people of now.
    """

    id: str
    """Unique and never given again: limits are counted under it."""
    name: str
    """What people call it."""
    organisation: Name | None = None
    """The only organisation it sees; None sees all."""
    person: Name | None = None
    """The only person it acts as; None acts as anybody."""
    home: Path | None = None
    """The folder of its organisation, which says whether the person still has an entry."""
    bridge: BridgeRights | None = None
    """That it is a bridge, which may do what bridges do and nothing else."""

    @property
    def is_admin(self) -> bool:
        """Whether it sees all organisations and acts as anybody."""
        return self.organisation is None and self.person is None and self.bridge is None

    def may_see(self, organisation: str) -> bool:
        """Whether the facts of that organisation may be told to it."""
        return self.is_admin or self.organisation == organisation

    def acts_as(self, named: str | None) -> str | None:
        """Return the person that acts: its own, or for an administrator the one `named`, None when none is.

        Raises:
            PermissionRefused: it is one person and another one is named.
        """
        if self.bridge is not None:
            raise PermissionRefused(f"The token {self.name} is a bridge's, and acts as nobody.", named=named)
        if self.person is None or named in (None, self.person):
            return self.person or named
        raise PermissionRefused(
            f"The token {self.name} acts as {self.person} and as nobody else, so not as {named}. "
            "Leave the name out, or use a token of that person.",
            person=self.person,
            named=named,
        )
