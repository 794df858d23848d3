"""Sessions: a random text kept as a hash, over after a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from governance.access.sessions import Session, Sessions
from runtime.ledger.access_rows import AccessRows
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


async def opened(sessions: Sessions) -> tuple[Session, str]:
    return await sessions.open("airports", "morgan", Path("/org"), via="console from 10.0.0.1")


async def test_a_session_is_found_by_its_whole_text_only(sessions: Sessions, rows: AccessRows) -> None:
    session, text = await opened(sessions)
    found = await sessions.find(text)
    row = await rows.get(session.id)
    assert found is not None
    assert (found.organisation, found.person, found.home) == ("airports", "morgan", Path("/org"))
    assert row is not None
    assert text not in str(row.data)
    for wrong in ("", text[:-1], text[:-1] + ("A" if text[-1] != "A" else "B"), f"{text}x", session.id):
        assert await sessions.find(wrong) is None


async def test_a_session_ends_after_its_idle_time_unless_it_is_used(sessions: Sessions, clock: HandClock) -> None:
    _, text = await opened(sessions)
    for _ in range(3):
        clock.advance(50 * 60)
        assert await sessions.find(text) is not None
    clock.advance(61 * 60)
    assert await sessions.find(text) is None


async def test_a_session_ends_twelve_hours_after_the_login_however_busy(sessions: Sessions, clock: HandClock) -> None:
    _, text = await opened(sessions)
    for _ in range(23):
        clock.advance(31 * 60)
        assert await sessions.find(text) is not None
    clock.advance(31 * 60)
    assert await sessions.find(text) is None


async def test_a_session_that_was_left_is_over(sessions: Sessions) -> None:
    session, text = await opened(sessions)
    await sessions.close(session.id)
    await sessions.close(session.id)
    assert await sessions.find(text) is None
    assert await sessions.get(session.id) is None


async def test_sessions_that_ran_out_are_cleared_away_at_the_next_login(
    sessions: Sessions, rows: AccessRows, clock: HandClock
) -> None:
    await opened(sessions)
    clock.advance(13 * 3_600)
    session, _ = await opened(sessions)
    assert [row.name for row in await rows.of("airports/morgan")] == [session.id]


async def test_a_session_that_is_used_often_is_not_written_with_every_request(
    sessions: Sessions, rows: AccessRows, clock: HandClock
) -> None:
    session, text = await opened(sessions)
    clock.advance(1 * 60)
    await sessions.find(text)
    row = await rows.get(session.id)
    assert row is not None
    assert row.data["used_at"] == session.used_at.isoformat()


async def test_a_session_that_is_left_while_it_is_used_stays_over(
    sessions: Sessions, rows: AccessRows, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, text = await opened(sessions)
    clock.advance(50 * 60)
    change = rows.change

    async def left_before(*given: Any) -> None:
        await sessions.close(session.id)
        await change(*given)

    monkeypatch.setattr(rows, "change", left_before)
    await sessions.find(text)
    assert await rows.get(session.id) is None
