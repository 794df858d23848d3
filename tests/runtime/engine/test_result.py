"""What a step leaves in the ledger is no longer than it has to be, and tells everything all the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import EvidenceItem, EvidenceKind, Usage
from runtime.canonical import sha256, to_bytes
from runtime.capabilities.port import CallSeen
from runtime.engine.result import Result, spent_in

AT = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
"""When the event was written."""
OUTPUT = {"rows": [1, 2], "mean": 1.5}
CALL = Result(None, 0.25, OUTPUT, seen=CallSeen("a" * 64, {"row_count": 2}), use="flights.query", query_sha256="c" * 64)


def stored(result: Result, at: datetime = AT) -> Result:
    return Result.from_data(result.to_data(), at)


def test_a_call_leaves_what_cannot_be_told_from_the_rest() -> None:
    assert CALL.to_data() == {
        "seconds": 0.25, "use": "flights.query", "output": OUTPUT, "called_sha256": "a" * 64, "seen": {"row_count": 2},
        "query_sha256": "c" * 64,
    }  # fmt: skip


def test_the_evidence_of_a_call_is_told_by_what_it_left() -> None:
    (item,) = stored(CALL).evidence("measure")

    assert (item.kind, item.step, item.capability, item.at) == (EvidenceKind.CALL, "measure", "flights.query", AT)
    assert item.sha256 == sha256(OUTPUT)
    assert item.facts == {
        "arguments_sha256": "a" * 64, "result_sha256": sha256(OUTPUT), "query_sha256": "c" * 64, "row_count": 2,
        "seconds": 0.25,
    }  # fmt: skip


def test_a_call_began_as_long_before_its_event_as_it_took() -> None:
    assert stored(CALL).started_at == AT - timedelta(seconds=0.25)


def test_a_result_that_is_stored_again_later_keeps_when_it_began() -> None:
    later = stored(stored(CALL), AT + timedelta(hours=3))

    assert later.started_at == AT - timedelta(seconds=0.25)
    assert later.evidence("measure") == stored(CALL).evidence("measure")


def test_a_step_that_says_nothing_else_spent_its_time_and_one_step() -> None:
    assert spent_in(CALL.to_data()) == stored(CALL).spent == Usage(seconds=0.25, steps=1)


def test_a_result_that_says_what_it_spent_spent_that() -> None:
    spent = Usage(tokens_in=5, seconds=2.0)

    assert spent_in(replace(CALL, usage=spent).to_data()) == stored(replace(CALL, usage=spent)).spent == spent
    assert stored(replace(CALL, usage=Usage())).spent == Usage()


def test_the_hash_of_what_was_given_is_found_wherever_that_is_kept() -> None:
    digest = sha256(OUTPUT)

    assert stored(replace(CALL, output=None, output_sha256=digest)).result_sha256 == digest
    assert stored(replace(CALL, output=None, given_sha256=digest, digest=digest)).result_sha256 == digest
    assert stored(replace(CALL, output=None, digest=digest)).result_sha256 == digest


def test_what_an_earlier_version_wrote_is_read_as_it_was_written() -> None:
    item = EvidenceItem(
        kind=EvidenceKind.CALL, at=AT, step="measure", capability="flights.query", sha256="b" * 64,
        facts={"arguments_sha256": "a" * 64, "seconds": 0.2},
    )  # fmt: skip
    began = AT - timedelta(minutes=1)
    written: dict[str, Any] = {
        "step": "measure", "index": None, "state": "done", "started_at": began.isoformat(), "seconds": 0.25,
        "result_sha256": "b" * 64, "usage": Usage(seconds=0.25, steps=1).to_json(), "use": "flights.query",
        "evidence": [item.to_json()], "output": OUTPUT,
    }  # fmt: skip

    read = Result.from_data(written, AT)

    assert (read.started_at, read.result_sha256, read.output) == (began, "b" * 64, OUTPUT)
    assert read.evidence("measure") == (item,) and read.spent == Usage(seconds=0.25, steps=1) == spent_in(written)


def test_a_small_result_takes_little_beside_itself() -> None:
    assert len(to_bytes(replace(CALL, query_sha256=None).to_data())) - len(to_bytes(OUTPUT)) < 180
