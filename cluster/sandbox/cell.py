"""What drivers that start processes on this machine differ in: how a process gets into its slot, and all get out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cluster.sandbox.allowance import Allowance
from contracts import Json
from runtime.capabilities.port import Grants
from runtime.settings import SlotSettings


@dataclass(frozen=True, slots=True)
class Paths:
    """What Landlock leaves a program; `read` absent means that the file system is confined otherwise."""

    read: Sequence[str] | None
    write: Sequence[str]
    """A dot is the slot's folder, also where its user cannot name it because a folder above is closed to it."""
    tcp: bool

    def to_json(self) -> Json:
        """Return it as `inside.confine` takes it."""
        return {"read": None if self.read is None else list(self.read), "write": list(self.write), "tcp": self.tcp}


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the started process does to itself before it becomes the program; carried out by `inside.confine`."""

    folder: Path
    limits: Mapping[str, int]
    uid: int | None
    landlock: Paths | None
    families: Sequence[int] | None
    """Kinds of sockets that may be made; absent means no filter of kernel calls at all."""

    def to_json(self, doors: Sequence[int]) -> Json:
        """Return it as `inside.confine` takes it; `doors` are descriptors of the group it joins."""
        return {
            "join": list(doors),
            "folder": str(self.folder),
            "limits": dict(self.limits),
            "uid": self.uid,
            "landlock": None if self.landlock is None else self.landlock.to_json(),
            "families": None if self.families is None else list(self.families),
        }


@dataclass(frozen=True, slots=True)
class Command:
    """How the process is started from outside."""

    argv: Sequence[str]
    """In front of the interpreter's own arguments; empty where it is started directly."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beside the usual one of a slot."""


class Cell(Protocol):
    """One slot, as a driver arranges it."""

    @property
    def folder(self) -> Path: ...  # noqa: D102
    @property
    def settings(self) -> SlotSettings: ...  # noqa: D102
    @property
    def interpreter(self) -> str: ...  # noqa: D102
    @property
    def uid(self) -> int | None:
        """The slot's own user, where it has one."""
        ...

    @property
    def own_processes(self) -> bool:
        """Whether programs live in a namespace of processes that ends with the first of them."""
        ...

    def command(self, grants: Grants, info_fd: int) -> Command:
        """Return how to start; the driver may tell the id of the first process through `info_fd`, as JSON."""
        ...

    def confinement(self, allowance: Allowance, grants: Grants) -> Confinement:
        """Return what the process takes from itself."""
        ...

    def renew(self) -> None:
        """Make the folder again, where an earlier program deleted it."""
        ...
