"""What may be stored, whatever its script or shape, and what is refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import EventId, ExecutionId
from runtime.canonical import clean, to_bytes
from runtime.ledger.facts import PAYLOAD_BYTES, prepare
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.rows import id_to_bytes, new_event_id
from runtime.ledger.store import SqlStore


def append(data: Any = None, **rest: Any) -> Append:
    event_type = rest.pop("type", "step.finished")
    fields: dict[str, Any] = {
        "stream": "order/a", "expected_version": 0, "organisation": "acme", "source": "/organisation/acme", **rest
    }  # fmt: skip
    return Append(events=[NewEvent(event_type, {} if data is None else data)], **fields)


def nested(levels: int) -> Any:
    value: Any = "core"
    for number in range(levels):
        value = [value] if number % 2 else {"in": value}
    return value


HOSTILE = {
    "beyond 64 bits": 2**63,
    "very large": -(10**400),
    "no rounding": 0.1 + 0.2,
    "emoji": "👩🏽‍🚀 is one character",
    "chinese": "航班取消率超过百分之十",
    "right to left": "\u202eabc\u202c",
    "quotes": "'; DROP TABLE events; -- \\ \" ` %s :x",
    "nul": "a\0b",
    "lone surrogate": "a\ud800b",
    "controls": "\x01\x1b[31m\r\n\t\x7f",
    "not a number": float("nan"),
    "deep": nested(500),
    "empty": {"": [], "list": [{}]},
    "long": "é" * 100_000,
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", HOSTILE)
async def test_cleaned_data_comes_back_exactly(store: SqlStore, name: str) -> None:
    data = {"value": clean(HOSTILE[name])}
    await store.ledger.append(append(data))

    (event,) = await store.ledger.read("order/a")
    assert event.data is not None and to_bytes(event.data) == to_bytes(data)
    assert await store.ledger.verify() == []


@pytest.mark.anyio
async def test_names_in_any_script_are_kept_apart(store: SqlStore) -> None:
    names = ["blackboard/x/Key", "blackboard/x/key", "blackboard/x/kéy", "blackboard/x/ключ", "blackboard/x/键"]
    for name in names:
        await store.ledger.append(append(stream=name))

    assert await store.ledger.streams("blackboard") == names


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"x": float("nan")}, "is not JSON"),
        ({"x": {1, 2}}, "is not JSON"),
        ({"x": "a\ud800"}, "is not JSON"),
        ({"x": 10**5_000}, "is not JSON"),
        ({"x": nested(100_000)}, "is not JSON"),
        ({"x": nested(150)}, "nested deeper than 100 levels"),
        ({"x": "a\0b"}, "holds the character NUL"),
        ({"x": "y" * PAYLOAD_BYTES}, "belong in a blob"),
    ],
    ids=["nan", "set", "surrogate", "endless-integer", "bottomless", "deep", "nul", "huge"],
)
def test_data_that_was_not_cleaned_is_refused(data: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=rf"The data of step.finished for order/a .*{why}"):
        prepare(append(data), "2013-02-08T22:00:00.000000Z")


@pytest.mark.parametrize(
    "fault",
    [
        {"stream": "order"},
        {"stream": "order/"},
        {"stream": "order/a "},
        {"stream": "order/ a"},
        {"stream": "order/a\0b"},
        {"stream": "order/" + "a" * 250},
        {"stream": "Order/a"},
        {"organisation": "Acme Ltd"},
        {"organisation": ""},
        {"source": ""},
        {"trace_id": "t" * 65},
        {"execution_id": "execution/none"},
        {"expected_version": -1},
        {"type": "finished"},
    ],
    ids=str,
)
def test_an_address_that_a_store_could_alter_is_refused(fault: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        prepare(append(**fault), "2013-02-08T22:00:00.000000Z")


def test_an_append_without_events_is_refused() -> None:
    with pytest.raises(ValueError, match="carries no events"):
        prepare(Append("order/a", [], 0, "acme", "/organisation/acme"), "2013-02-08T22:00:00.000000Z")


def test_text_that_only_looks_like_nul_is_kept() -> None:
    assert prepare(append({"x": "\\u0000"}), "t").facts[0].payload == b'{"x":"\\\\u0000"}'


def test_event_ids_are_ids_and_sort_by_time() -> None:
    made = [new_event_id() for _ in range(100)]
    ids = [EventId(text) for text, _ in made]

    assert len(set(ids)) == 100
    assert [id_to_bytes(text) for text, _ in made] == [stored for _, stored in made]
    assert [text[:16] for text in ids] == sorted(text[:16] for text in ids)


def test_execution_ids_are_taken_as_they_are() -> None:
    execution_id = ExecutionId.new()
    assert prepare(append(execution_id=execution_id), "t").append.execution_id == execution_id
