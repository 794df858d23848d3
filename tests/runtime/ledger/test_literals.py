"""Rows written into the text of a statement: what they look like, how long a statement may be, and what is refused."""

from __future__ import annotations

import pytest

from runtime.ledger import literals
from runtime.ledger.literals import in_one
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore

INSERT = "INSERT INTO t (a, b) VALUES (%s, %s) ON DUPLICATE KEY UPDATE b = VALUES(b)"


def test_rows_are_numbers_hexadecimal_and_null_in_one_statement() -> None:
    (statement,) = in_one(INSERT, [(-1, b"it's"), (2**63 - 1, None)])

    assert statement == (
        "INSERT INTO t (a, b) VALUES (-1,x'69742773'),(9223372036854775807,NULL) ON DUPLICATE KEY UPDATE b = VALUES(b)"
    )


def test_no_statement_is_longer_than_it_may_be_unless_one_row_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literals, "MOST_BYTES", 30)

    told = list(in_one(INSERT, [(1, b"a"), (2, b"b"), (3, b"c" * 40), (4, b"d")]))

    assert [statement.count("x'") for statement in told] == [2, 1, 1]


def test_no_rows_are_no_statement() -> None:
    assert list(in_one(INSERT, [])) == []


@pytest.mark.parametrize("value", ["text", 1.5, True], ids=repr)
def test_what_would_have_to_be_escaped_is_refused(value: object) -> None:
    with pytest.raises(KeyError):
        list(in_one(INSERT, [(1, value)]))


@pytest.mark.anyio
async def test_large_and_small_payloads_in_one_append_are_stored_as_they_are(store: SqlStore) -> None:
    data = [{"n": number, "text": "ü'\\%s" * size} for number, size in enumerate([1, 40_000, 1, 400_000, 2])]
    events = [NewEvent("step.finished", one) for one in data]

    await store.ledger.append(Append("order/a", events, 0, "acme", "/organisation/acme"))

    assert [event.data for event in await store.ledger.read("order/a")] == data
    assert await store.ledger.verify() == []
