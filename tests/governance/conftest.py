"""A real store and the people of a small organisation."""

import pytest

from governance.access import People
from governance.approvals import ApprovalGateway
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import ORGANISATION, PEOPLE
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "gateway", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]


@pytest.fixture
def gateway(sqlite_store: SqlStore, clock: HandClock) -> ApprovalGateway:
    return ApprovalGateway(sqlite_store, clock, People(PEOPLE), ORGANISATION)
