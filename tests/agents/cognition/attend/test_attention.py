import pytest

from agents.cognition.attend import Attention, LeftOutWhy
from governance.alerts import Alerts, Matcher
from runtime.ledger.store import SqlStore
from runtime.settings import AttentionSettings
from tests.governance.alerts.raw import ANNA, HOUR, MINUTE, ORGANISATION, START, raw, rules

pytestmark = pytest.mark.anyio


def attention(store: SqlStore) -> tuple[Alerts, Attention]:
    alerts = Alerts(store, ORGANISATION, rules())
    return alerts, Attention(store, alerts, ORGANISATION, AttentionSettings(at_once=1))


async def test_what_is_seen_to_and_what_is_not_is_written_down(sqlite_store: SqlStore) -> None:
    alerts, given = attention(sqlite_store)
    await alerts.silence(Matcher({"sensor": ("flour",)}), ANNA, START, until=START + HOUR, reason="x")
    await alerts.note([raw(shop="a"), raw(shop="b"), raw("flour")], START)

    await given.give(START)

    events = await sqlite_store.ledger.read(f"attention/{ORGANISATION}")
    data = events[0].data or {}
    assert len(data["order"]) == 1  # type: ignore[arg-type]
    assert [each["why"] for each in data["left_out"]] == ["no_room", "silenced"]  # type: ignore[index, union-attr]


async def test_a_round_that_says_the_same_writes_nothing(sqlite_store: SqlStore) -> None:
    alerts, given = attention(sqlite_store)
    await alerts.note([raw()], START)
    await given.give(START)

    await given.give(START + MINUTE)

    assert len(await sqlite_store.ledger.read(f"attention/{ORGANISATION}")) == 1


async def test_an_alert_comes_again_until_it_was_seen_to(sqlite_store: SqlStore) -> None:
    alerts, given = attention(sqlite_store)
    await alerts.note([raw()], START)
    first = await given.give(START)
    again = await attention(sqlite_store)[1].give(START + MINUTE)

    await given.gave(again.order, START + MINUTE)

    assert [each.alert.alert_id for each in again.order] == [each.alert.alert_id for each in first.order]
    assert [each.why for each in (await given.now(START + HOUR)).left_out] == [LeftOutWhy.SEEN_TO]
