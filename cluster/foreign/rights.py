"""What the token of a bridge lets it be."""

from __future__ import annotations

from dataclasses import dataclass

from contracts import Name


@dataclass(frozen=True, slots=True)
class Rights:
    """What a bridge that speaks HTTP may be."""

    token: str
    """ULID of its token; its nodes are the token's own."""
    organisations: tuple[Name, ...]
    """Whose orders it may get."""
    labels: tuple[str, ...]
    """What its nodes may offer."""
