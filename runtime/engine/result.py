"""What one finished unit leaves in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from contracts import Artifact, EvidenceId, EvidenceItem, Json, OrderId, Usage


@dataclass(frozen=True, slots=True)
class Undo:
    """How an effect is taken back: a call with everything bound already."""

    use: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Result:
    """The data of `step.finished`, beside which step it was.

    The output stands in `output`, or, when it is long, in the blob store under `output_sha256`.
    """

    started_at: datetime
    seconds: float
    result_sha256: str
    output: Json = None
    output_sha256: str | None = None
    query_sha256: str | None = None
    data_sha256: str | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    usage: Usage = field(default_factory=Usage)
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
    """What a rule found odd about it and a person kept."""

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form, without what holds nothing."""
        data: dict[str, Any] = {
            "started_at": self.started_at.isoformat(),
            "seconds": round(self.seconds, 6),
            "result_sha256": self.result_sha256,
            "query_sha256": self.query_sha256,
            "data_sha256": self.data_sha256,
            "evidence": [item.to_json() for item in self.evidence],
            "artifacts": [artifact.to_json() for artifact in self.artifacts],
            "usage": self.usage.to_json(),
            "use": self.use,
            "uses": list(self.uses),
            "order_id": self.order_id,
            "sealed": list(self.sealed),
            "undo": {"use": self.undo.use, "arguments": dict(self.undo.arguments)} if self.undo else None,
            "members": list(self.members),
            "happened": self.happened or None,
            "suspicious": list(self.suspicious),
        }
        kept = {name: value for name, value in data.items() if value not in (None, [])}
        if self.output_sha256 is not None:
            return {**kept, "output_sha256": self.output_sha256}
        return kept if self.members else {**kept, "output": self.output}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Result:
        """Return the result that was stored as `data`."""
        undo = data.get("undo")
        order_id = data.get("order_id")
        return cls(
            started_at=datetime.fromisoformat(data["started_at"]),
            seconds=data["seconds"],
            result_sha256=data["result_sha256"],
            output=data.get("output"),
            output_sha256=data.get("output_sha256"),
            query_sha256=data.get("query_sha256"),
            data_sha256=data.get("data_sha256"),
            evidence=tuple(EvidenceItem.read(item) for item in data.get("evidence", ())),
            artifacts=tuple(Artifact.read(item) for item in data.get("artifacts", ())),
            usage=Usage.read(data.get("usage", {})),
            use=data.get("use"),
            uses=tuple(data.get("uses", ())),
            order_id=OrderId(order_id) if order_id else None,
            sealed=tuple(EvidenceId(item) for item in data.get("sealed", ())),
            undo=Undo(undo["use"], undo["arguments"]) if undo else None,
            members=tuple(data.get("members", ())),
            happened=bool(data.get("happened")),
            suspicious=tuple(data.get("suspicious", ())),
        )
