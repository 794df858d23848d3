from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cluster import seal, verify
from cluster.evidence import items as items_module
from cluster.evidence import items_of
from contracts import EvidenceItem, EvidenceKind, EvidencePackage
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done
from tests.fakes.orders import an_order

AT = datetime(2013, 2, 8, tzinfo=UTC)
ITEM = EvidenceItem(kind=EvidenceKind.ROWS, at=AT, step="measure", sha256="a" * 64, facts={"row_count": 30})
OTHER = EvidenceItem(kind=EvidenceKind.CALL, at=AT, step="do", sha256="b" * 64)


@pytest.fixture
def package() -> EvidencePackage:
    return seal(an_order(), [ITEM, OTHER], AT)


def test_a_sealed_package_is_whole_also_after_it_was_stored(package: EvidencePackage) -> None:
    stored = EvidencePackage.model_validate(package.to_json())

    assert verify(package) == verify(stored) == []


@pytest.mark.parametrize(
    "items",
    [(ITEM,), (OTHER, ITEM), (ITEM, OTHER, OTHER), (ITEM.model_copy(update={"facts": {"row_count": 31}}), OTHER)],
    ids=["left out", "other order", "added", "changed"],
)
def test_whatever_is_done_to_the_items_is_found(package: EvidencePackage, items: tuple[EvidenceItem, ...]) -> None:
    assert verify(package.model_copy(update={"items": items})) != []


def test_items_that_the_ledger_did_not_record_are_found(package: EvidencePackage) -> None:
    assert "not those in the stream" in verify(package, [])[0]


@pytest.mark.anyio
async def test_what_the_calls_of_a_model_showed_is_evidence_of_their_order(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {"n": 1}))
    world.model = ScriptedModel(calls(("look", {"at": 1}), ("look", {"at": 2})), done(ok=True))
    order = world.order({"id": "think", "react": "Go.", "tools": ["look"]})
    await world.run(order)

    items = items_of(await sqlite_store.ledger.read(str(order.order_id)))

    assert [(item.kind, item.step, item.capability) for item in items] == [(EvidenceKind.CALL, "think", "look")] * 2


@pytest.mark.anyio
async def test_more_files_than_a_package_holds_are_proven_together(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items_module, "MOST_FILES", 2)
    files = [{"path": f"{number}.txt", "sha256": f"{number:064}", "size": 1, "mode": 0o644} for number in range(5)]
    told = [NewEvent("files.changed", {"step": "do", "files": some}) for some in (files[:4], files[4:])]
    append = Append("files/01M8P9AA9BBEK9Q1PNPA2X1HZM", told, 0, "three-airports", "/test")
    events = await sqlite_store.ledger.append(append)

    found = items_of(events)

    assert [item.facts.get("name") for item in found] == ["0.txt", "1.txt", None]
    assert found[-1].facts == {"files": 3, "first": "2.txt", "last": "4.txt"}
    assert items_of(events[:1])[-1].sha256 != found[-1].sha256
