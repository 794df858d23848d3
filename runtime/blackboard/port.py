"""What the shared blackboard of an execution promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts import Json, Name, OrderId, StepId
from runtime.bus.port import Bus
from runtime.ledger.port import Append


@dataclass(frozen=True, slots=True)
class Version:
    """One write of a key: what was written, by whom, and whether the writer knew what stood there."""

    key: str
    version: int
    value: Json
    """As it was written; None when it was erased."""
    employee: Name
    step: StepId
    order: str | None
    at: datetime
    position: int
    rule: str = "replace"
    unseen: bool = False
    """Whether it was written on top of whatever stood there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of the board, with who wrote it last."""

    key: str
    value: Json
    """What the rule of the key makes of all its versions."""
    version: int
    employee: Name
    step: StepId
    conflicts: tuple[Version, ...] = ()
    """Under `replace`: values of others that were replaced by writers who had not seen them, the newest 20.

    Whoever names the version that stands there settles the conflict; every version stays in `versions`.
    """


class Blackboard(Protocol):
    """Typed, attributed values, one stream for each key, written by compare-and-set and merged by the key's rule."""

    async def read(self, key: str, *, cached: bool = False) -> Entry | None:
        """Return the value now, or None when the key was never written.

        With `cached`, what this process has heard is enough while it is `following`: it costs no query, knows whatever
        this process wrote, and may be behind others for a moment.
        """
        ...

    async def entries(self) -> Mapping[str, Entry]:
        """Return all values, by key, with one query; a key with conflicts or merged values of others takes one more."""
        ...

    async def versions(self, key: str) -> Sequence[Version]:
        """Return every write of the key, in order."""
        ...

    def write(
        self,
        key: str,
        value: Json,
        *,
        expected_version: int,
        employee: Name,
        step: StepId,
        order: OrderId | None = None,
        unseen: bool = False,
    ) -> Append:
        """Return the append that writes the value; the ledger refuses it when the key moved on.

        `unseen` says that the writer wants it on top of whatever stands there: the version is that of the last read,
        and not one that a decision rests on.

        Raises:
            InvalidArguments: the value is larger than the setting allows, is not of the declared type or cannot be
                merged, or the key is not a name.
        """
        ...

    async def update(
        self,
        key: str,
        change: Callable[[Json], Json],
        *,
        employee: Name,
        step: StepId,
        order: OrderId | None = None,
    ) -> Entry:
        """Write what `change` makes of the value there, None for nothing, however many others do so; return the entry.

        It is called again whenever somebody else wrote first. Whoever comes second waits a moment of random length, so
        that writers take turns instead of refusing each other.
        """
        ...

    def subscribe(self, pattern: str, *, bus: Bus, after: int) -> AsyncGenerator[Version, None]:
        """Yield the writes after a position, by whatever process, of the keys that fit `pattern` (`*`: any characters).

        Raises:
            ValueError: the pattern can fit no key.
        """
        ...
