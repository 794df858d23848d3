"""What a server tells whoever started it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Up:
    """It works, and listens."""

    address: str
    pid: int
    organisations: tuple[str, ...] = ()
    """Those it works for; empty means all whose executions it finds."""
    token: str | None = None
    """The first token of this ledger, shown this once; None when there was one before."""


@dataclass(frozen=True, slots=True)
class NodeUp:
    """It offers a node, and other processes see it."""

    node_id: str
    slots: int
    labels: tuple[str, ...]
    driver: str
    cannot_enforce: tuple[str, ...]
    """Limits that the driver cannot hold on this machine."""
    pid: int


@dataclass(frozen=True, slots=True)
class Stopping:
    """It was asked to stop."""

    in_hand: int
    """Executions, or orders of a node, whose steps in progress may end."""
    within_s: float


@dataclass(frozen=True, slots=True)
class Stopped:
    """It has given everything back."""


Told: TypeAlias = Up | NodeUp | Stopping | Stopped
Tell: TypeAlias = Callable[[Told], None]
