"""Accounts over real stores, with a hash that takes a moment only."""

from __future__ import annotations

import pytest

from governance.access.passwords import Passwords
from governance.access.sessions import Sessions
from governance.access.users import Users
from runtime.ledger.access_rows import AccessRows
from runtime.ledger.store import SqlStore
from runtime.settings.access import AccessSettings
from tests.fakes.clock import HandClock

QUICK = AccessSettings(argon2_passes=1, argon2_memory_mib=8, argon2_lanes=1)


@pytest.fixture
def rows(store: SqlStore, clock: HandClock) -> AccessRows:
    return AccessRows(store, clock)


@pytest.fixture
def sessions(rows: AccessRows, clock: HandClock) -> Sessions:
    return Sessions(rows, clock, QUICK)


@pytest.fixture
def users(store: SqlStore, rows: AccessRows, sessions: Sessions) -> Users:
    return Users(store.ledger, rows, Passwords(QUICK), sessions)
