"""An advisor on a real store."""

from tests.governance.conftest import gateway
from tests.stores import clock, sqlite_store

__all__ = ["clock", "gateway", "sqlite_store"]
