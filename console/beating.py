"""Heartbeats, as people look at them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from agents.cognition.heartbeat.work import Counts, WorkBook
from console.beats.rounds import BEGUN, quiet_cursor
from console.beats.turn import lease_of
from console.folders import folder_of
from console.resources import Resources
from console.views_beats import HeartbeatStanding, WorkCounted
from contracts import Event, ExecutionId, Name
from runtime.executor.holder import is_gone
from runtime.executor.register import Register
from runtime.ledger.kept import kept_cursor
from runtime.ledger.store import SqlStore


class Beating:
    """The port `BeatsPort`."""

    _resources: Resources

    async def heartbeat(self, folder: Path) -> HeartbeatStanding:
        """Return how the heartbeat of an organisation stands; see the port."""
        resources = self._resources
        organisation, _ = await (await resources.organisations()).current(folder_of(folder))
        store, settings, name = await resources.store(), resources.settings.heartbeat, organisation.name
        terms = organisation.heartbeat
        now = resources.clock.now()
        book = WorkBook(store.ledger, name, settings)
        counts, by_day = await book.counts(now), await book.days()
        newest, last = await _newest(store, name)
        waiting = (newest.data or {}).get("waiting") if newest is not None else None
        looks = await kept_cursor(store.ledger, quiet_cursor(name))
        quiet = (looks.data or {}) if looks is not None else {}
        round_ = None
        if last is not None and last.data is not None:
            round_ = await Register(store).find(name, str(last.data["key"]))
        return HeartbeatStanding(
            organisation=name,
            on=settings.on if terms.on is None else terms.on,
            every_s=terms.every_s or settings.every_s,
            watched_by=await _watched_by(store, name),
            last_round=None if round_ is None else ExecutionId(round_),
            last_round_at=None if last is None else last.time,
            waiting=len(waiting) if isinstance(waiting, list) else 0,
            quiet=int(quiet.get("quiet", 0)),
            looked_at=datetime.fromisoformat(str(quiet["at"])) if "at" in quiet else None,
            days=settings.window_days,
            work=_counted(counts),
            meta_most=book.most(counts),
            by_day={day: _counted(each) for day, each in by_day.items()},
        )


async def _newest(store: SqlStore, organisation: Name) -> tuple[Event | None, Event | None]:
    """Return the newest event of rounds, and the one with which the last round began: that, or the one before it."""
    stream = f"heartbeat/{organisation}"
    newest = next(iter(await store.ledger.read_newest(stream)), None)
    if newest is None or newest.type == BEGUN:
        return newest, newest
    before = await store.ledger.read_versions(stream, [newest.stream_version - 1])
    return newest, next((event for event in before if event.type == BEGUN), None)


async def _watched_by(store: SqlStore, organisation: Name) -> str | None:
    held = await store.leases.live(lease_of(organisation))
    return next(
        (each.holder for each in held if each.name == lease_of(organisation) and not is_gone(each.holder)), None
    )


def _counted(counts: Counts) -> WorkCounted:
    return WorkCounted(
        counts.goal, counts.meta, counts.rounds, counts.goal_orders, counts.meta_orders, counts.refused
    )  # fmt: skip
