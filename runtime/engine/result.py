"""What one finished unit leaves in the ledger.

Each step leaves one of these, so what its event tells anyway is not written down beside it: the hash of an output that
stands there, the moment a call ended, which is that of the event, the usage of a step that only took time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, overload

from contracts import Artifact, EvidenceId, EvidenceItem, EvidenceKind, Json, OrderId, Usage
from runtime.canonical import sha256
from runtime.capabilities.port import CallSeen


class _Stored(Sequence[EvidenceItem]):
    """Evidence as it stands in an event; read when somebody looks, which going on with an order never does."""

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> EvidenceItem: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[EvidenceItem]: ...
    def __getitem__(self, at: int | slice) -> EvidenceItem | Sequence[EvidenceItem]:
        return _Stored(self._items[at]) if isinstance(at, slice) else EvidenceItem.read(self._items[at])


@dataclass(frozen=True, slots=True)
class Undo:
    """How an effect is taken back: a call with everything bound already."""

    use: str
    arguments: Mapping[str, Json]


@dataclass(slots=True)  # not frozen: that would take three times as long to make, and each step makes two
class Result:
    """The data of `step.finished`, beside which step it was.

    The output stands in `output`, or, when it is long, in the blob store under `output_sha256`.
    """

    started_at: datetime | None
    """When the work began; None for a call that ended just now, which its event will tell."""
    seconds: float
    output: Json = None
    output_sha256: str | None = None
    given_sha256: str | None = None
    """Where stands what a call gave whose step hands nothing on: nothing reads it but a replay."""
    digest: str | None = None
    """Hash of what was given, where nothing that is kept has that hash."""
    query_sha256: str | None = None
    data_sha256: str | None = None
    seen: CallSeen | None = None
    """What was seen of the call that gave it, if one did."""
    shown: Sequence[EvidenceItem] = ()
    """Evidence beside the call itself: what the capability has to show."""
    artifacts: tuple[Artifact, ...] = ()
    usage: Usage | None = None
    """What was spent; None for one step that only took its time."""
    use: str | None = None
    uses: tuple[str, ...] = ()
    """Every capability called for it, in orders below as well."""
    order_id: OrderId | None = None
    """The order that another employee carried out for it."""
    sealed: tuple[EvidenceId, ...] = ()
    """Evidence packages of the orders below."""
    undo: Undo | None = None
    members: tuple[str, ...] = ()
    """Of a group its branches, of a repetition its indices: their outputs make up this one's, which is not repeated."""
    happened: bool = False
    """Whether an effect took place, here or in the order below, that must not be repeated."""
    suspicious: tuple[str, ...] = ()
    """What a rule found odd about it: a person kept it, or the model that made the call was told."""
    about: str = ""
    """What code says of a long output, for models of later steps."""
    length: int = 0
    """Characters of such an output."""
    unpriced: bool = False
    """Whether somebody was paid for it, or may have been, and nobody knows how much."""

    @property
    def result_sha256(self) -> str:
        """Of the canonical bytes of what was given."""
        known = self.digest or self.given_sha256 or self.output_sha256
        if known is None:
            known = self.digest = sha256(self.output)
        return known

    @property
    def rests_on(self) -> str | None:
        """Hash of the data it rests on; where none is told, of what its call was called with.

        What was given would not do: it differs each time where it holds an id, as of a card or a receipt.
        """
        if self.data_sha256 is not None or self.seen is None:
            return self.data_sha256
        return self.seen.arguments_sha256

    @property
    def spent(self) -> Usage:
        """What was spent."""
        return Usage.of_step(self.seconds) if self.usage is None else self.usage

    def evidence(self, step: str) -> tuple[EvidenceItem, ...]:
        """Return what was done and seen in that step, in the order it happened; of a result that was read back."""
        return tuple(self.shown) if self.seen is None else (self._call(step, self.seen), *self.shown)

    def _call(self, step: str, seen: CallSeen) -> EvidenceItem:
        assert self.started_at is not None
        facts: dict[str, Json] = {
            "arguments_sha256": seen.arguments_sha256,
            "result_sha256": self.result_sha256,
            "seconds": round(self.seconds, 6),
            **seen.facts,
        }
        for name, value in (("query_sha256", self.query_sha256), ("data_sha256", self.data_sha256)):
            if value is not None:
                facts[name] = value
        return EvidenceItem(
            kind=EvidenceKind.CALL, at=self.started_at + timedelta(seconds=self.seconds), step=step,
            capability=self.use, sha256=self.result_sha256, facts=facts,
        )  # fmt: skip

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form, without what holds nothing and without what the rest of it tells."""
        data: dict[str, Any] = {"seconds": round(self.seconds, 6)}
        if self.use is not None:
            data["use"] = self.use
        if self.output_sha256 is None and not self.members:
            data["output"] = self.output
        if (values := _stored(self)) != _NOTHING:
            for (key, form), value in zip(_STORED.values(), values, strict=True):
                if value:
                    data[key] = value if form is None else form(value)
        if self.seen is not None:
            data["called_sha256"] = self.seen.arguments_sha256
            if self.seen.facts:
                data["seen"] = dict(self.seen.facts)
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any], at: datetime) -> Result:
        """Return the result that was stored as `data` in an event of the moment `at`."""
        get, seconds, called = data.get, data["seconds"], data.get("called_sha256")
        undo, order_id, started_at = get("undo"), get("order_id"), get("started_at")
        return cls(
            datetime.fromisoformat(started_at) if started_at else at - timedelta(seconds=seconds),
            seconds,
            get("output"),
            get("output_sha256"),
            get("given_sha256"),
            get("result_sha256"),
            get("query_sha256"),
            get("data_sha256"),
            CallSeen(called, get("seen", {})) if called else None,
            _Stored(data["evidence"]) if "evidence" in data else (),
            tuple(map(Artifact.read, data["artifacts"])) if "artifacts" in data else (),
            Usage.read(data["usage"]) if "usage" in data else None,
            get("use"),
            tuple(get("uses", ())),
            OrderId(order_id) if order_id else None,
            tuple(map(EvidenceId, get("sealed", ()))),
            Undo(undo["use"], undo["arguments"]) if undo else None,
            tuple(get("members", ())),
            bool(get("happened")),
            tuple(get("suspicious", ())),
            get("about", ""),
            get("about_length", 0),
            bool(get("unpriced")),
        )


def _all_to_json(items: Iterable[EvidenceItem | Artifact]) -> list[dict[str, Any]]:
    return [item.to_json() for item in items]


_STORED: Mapping[str, tuple[str, Callable[[Any], Any] | None]] = {
    "started_at": ("started_at", datetime.isoformat),
    "usage": ("usage", Usage.to_json),
    "digest": ("result_sha256", None),
    "output_sha256": ("output_sha256", None),
    "given_sha256": ("given_sha256", None),
    "query_sha256": ("query_sha256", None),
    "data_sha256": ("data_sha256", None),
    "order_id": ("order_id", str),
    "uses": ("uses", list),
    "sealed": ("sealed", lambda sealed: [str(name) for name in sealed]),
    "members": ("members", list),
    "suspicious": ("suspicious", list),
    "shown": ("evidence", _all_to_json),
    "artifacts": ("artifacts", _all_to_json),
    "undo": ("undo", lambda undo: {"use": undo.use, "arguments": dict(undo.arguments)}),
    "happened": ("happened", None),
    "about": ("about", None),
    "length": ("about_length", None),
    "unpriced": ("unpriced", None),
}
"""Field → where and in which form it is stored, when it holds anything, which hardly any of them does."""
_stored = attrgetter(*_STORED)
_NOTHING = _stored(Result(None, 0.0))


def spent_in(data: Mapping[str, Any]) -> Usage:
    """Return what was spent on the step whose `step.finished` has this data; nothing where it does not tell."""
    if "usage" in data:
        return Usage.read(data["usage"])
    return Usage.of_step(data["seconds"]) if "seconds" in data else Usage()
