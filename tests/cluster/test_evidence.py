from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cluster import seal, verify
from contracts import EvidenceItem, EvidenceKind, EvidencePackage
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
