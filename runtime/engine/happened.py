"""What is folded of an event, be it stored or about to be."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

Data = Mapping[str, Any]


class Happened(Protocol):
    """An event of an order, as far as its view is concerned."""

    @property
    def type(self) -> str: ...  # noqa: D102

    @property
    def data(self) -> Data | None: ...  # noqa: D102

    @property
    def time(self) -> datetime: ...  # noqa: D102

    @property
    def stream_version(self) -> int: ...  # noqa: D102


class Foreseen(NamedTuple):
    """An event that is about to be stored as it is; the ledger gives it a moment of its own, a little later."""

    type: str
    data: Data
    time: datetime
    stream_version: int
