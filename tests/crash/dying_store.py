"""A store whose process is killed, really and at once, at one chosen write."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from runtime.ledger.port import Append, Store

T = TypeVar("T")


@dataclass
class Death:
    """Where the process dies: at the write of the `nth` event of that `label`, before its commit or right `after` it.

    Points are named by events and not by appends, because events that are ready at the same moment share an append.
    """

    label: str = ""
    nth: int = 0
    after: bool = False
    met: list[str] = field(default_factory=list)
    """Everything written so far, by label; two of the same label are the first and the second of their kind."""
    _seen: Counter[str] = field(default_factory=Counter)

    async def at(self, labels: Sequence[str], write: Callable[[], Awaitable[T]]) -> T:
        """Make the write, unless this is where the process dies."""
        here = False
        for label in labels:
            here = here or (label, self._seen[label]) == (self.label, self.nth)
            self._seen[label] += 1
            self.met.append(label)
        if here and not self.after:
            die()
        done = await write()
        if here:
            die()
        return done


class DyingStore:
    """The real store, whose writes pass by a `Death`."""

    def __init__(self, store: Store, death: Death) -> None:
        self._store = store
        self._death = death
        self.ledger: Any = _Watched(store.ledger, death, append=_labels_of)
        self.leases: Any = _Watched(
            store.leases, death, acquire=_label_of_lease("acquired"), release=_label_of_lease("released")
        )
        self.blobs: Any = _Watched(store.blobs, death, put=lambda *_, **__: ["blob.put"])

    async def close(self) -> None:
        await self._store.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _Watched:
    """One part of the store; the methods named are writes, labelled by a function of their arguments."""

    def __init__(self, part: Any, death: Death, **writes: Callable[..., Sequence[str]]) -> None:
        self._part = part
        self._death = death
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        if name not in self._writes:
            return method

        async def write(*args: Any, **kwargs: Any) -> Any:
            return await self._death.at(self._writes[name](*args, **kwargs), lambda: method(*args, **kwargs))

        return write


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def _labels_of(*appends: Append, **_: Any) -> list[str]:
    """Name what is written so that it has the same name in every run: who writes, what happened, to which step.

    What stands in further streams is always written with the first, and has no name of its own.
    """
    if not appends:
        return ["position"]
    first = appends[0]
    kind, who = first.stream.partition("/")[0], first.source.rpartition("/")[2]
    return [f"{who}:{kind}:{_label_of_event(event.type, event.data)}" for event in first.events]


def _label_of_event(type_: str, data: Any) -> str:
    step, index = data.get("step"), data.get("index")
    return type_ + ("" if step is None else f"({step}{'' if index is None else f'[{index}]'})")


def _label_of_lease(what: str) -> Callable[..., list[str]]:
    def label(lease: Any, *_: Any) -> list[str]:
        name: str = lease if isinstance(lease, str) else lease.name
        return [f"{name.partition('/')[0]}.{what}"]

    return label


def labels_with_numbers(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Return each label with how many of the same came before it."""
    seen: Counter[str] = Counter()
    numbered = []
    for label in labels:
        numbered.append((label, seen[label]))
        seen[label] += 1
    return numbered
