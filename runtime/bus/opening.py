"""Opens the bus that the settings name."""

from __future__ import annotations

from runtime.bus.identity import ledger_id
from runtime.bus.in_process import InProcessBus
from runtime.bus.port import Bus
from runtime.bus.redis_bus import RedisBus
from runtime.bus.redis_link import RedisAway, RedisLink
from runtime.ledger.port import Store
from runtime.settings.groups import BusSettings


async def open_bus(settings: BusSettings, store: Store) -> Bus:
    """Return the bus: through Redis where `bus.url` names one, else inside this process. Close it before the store.

    Redis need not answer: until it does, and whenever it does not, processes find events by looking into the ledger.

    Raises:
        SettingsError: `bus.url` is not an address of Redis.
        LedgerUnavailable: the ledger cannot be read or written now.
    """
    if not settings.url:
        return InProcessBus(store, settings)
    bus = RedisBus(store, settings, RedisLink(settings.url, await ledger_id(store.ledger), kept=settings.kept))
    await bus.start()
    return bus


def require_address(settings: BusSettings) -> None:
    """Raise SettingsError when `bus.url` is not an address of Redis; nothing is connected."""
    if settings.url:
        RedisLink(settings.url, "nothing", kept=settings.kept)


async def look_at_redis(settings: BusSettings) -> tuple[bool, str]:
    """Return whether the Redis that the settings name answers, and in words which one or why not.

    Raises:
        SettingsError: `bus.url` is not an address of Redis.
    """
    link = RedisLink(settings.url, "nothing", kept=settings.kept)
    try:
        return True, await link.describe()
    except RedisAway as away:
        return False, f"{link.address} cannot be used: {away}"
    finally:
        await link.close()
