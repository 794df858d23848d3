"""What travels between hosts: small, and nothing that the ledger could tell as well."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import cached_property

from contracts import ExecutionId, StatusReport, TaskOrder
from runtime.engine.source import Source
from runtime.errors import SiliconError
from runtime.ledger.port import Lease


@dataclass(frozen=True, slots=True)
class Address:
    """Where a host is: the name of its actor, which no other ever bears, and the lease that its writes carry."""

    actor: str
    lease: Lease


@dataclass(frozen=True)
class Stretch:
    """One stretch of work on an execution, as it is told to hosts; the rest they read from the ledger."""

    execution_id: ExecutionId
    lease: Lease
    """Of the execution. A later stretch has a greater fence."""
    resumed: bool
    reopened: bool
    hosts: tuple[Address, ...]
    """Where employees sit. Those that are lost meanwhile are passed over; none is added."""
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables that the organisation's files name and that hosts would not have otherwise. They hold secrets."""

    @cached_property
    def packed(self) -> bytes:
        """The stretch as it travels, the same bytes each time."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)

    def __getstate__(self) -> dict[str, object]:
        """Return the fields alone, without what was packed before."""
        return {name: value for name, value in self.__dict__.items() if name != "packed"}


def pack_order(stretch: Stretch, order: TaskOrder, *, new: bool) -> bytes:
    """Return the message that hands an order over; `new` tells that nobody had it before."""
    return pickle.dumps((stretch.packed, order, new), pickle.HIGHEST_PROTOCOL)


def unpack_order(message: bytes) -> tuple[bytes, TaskOrder, bool]:
    """Return the stretch, still packed, the order, and whether it is new."""
    stretch, order, new = pickle.loads(message)  # noqa: S301 - from another process of ours
    return stretch, order, new


def unpack_stretch(packed: bytes) -> Stretch:
    """Return the stretch; handed on, it travels as the same bytes."""
    stretch: Stretch = pickle.loads(packed)  # noqa: S301 - from another process of ours
    stretch.__dict__["packed"] = packed
    return stretch


def pack_answer(answer: StatusReport | BaseException, source: Source | None = None) -> bytes:
    """Return what came of an order: its report with what its output rests on, or the error that stopped it."""
    try:
        packed = pickle.dumps((answer, source), pickle.HIGHEST_PROTOCOL)
        if isinstance(answer, SiliconError):
            pickle.loads(packed)  # noqa: S301 - ours; an error with a constructor of its own may not come back
    except Exception:
        return pickle.dumps((_plain(answer), None), pickle.HIGHEST_PROTOCOL)
    return packed


def unpack_answer(packed: bytes) -> tuple[StatusReport, Source | None]:
    """Return the report, with what its output rests on where the host knew; or raise the error that stopped the order.

    Raises:
        Stopped: the order was stopped on its host by somebody else.
    """
    answer, source = pickle.loads(packed)  # noqa: S301 - from another process of ours
    if isinstance(answer, BaseException):
        raise answer
    assert isinstance(answer, StatusReport)
    return answer, source


def _plain(answer: object) -> Exception:
    """Return an error that travels in the place of one that does not."""
    if isinstance(answer, SiliconError):
        plain = SiliconError(answer.message, **answer.facts)
        plain.__dict__["code"] = answer.code
        plain.__dict__["category"] = answer.category
        return plain
    return RuntimeError(f"{type(answer).__name__}: {answer}")
