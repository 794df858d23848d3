"""The models of one process: one endpoint, one limit for each organisation, a client for each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import SecretStr

from contracts import Name
from runtime.bus.identity import ledger_id
from runtime.bus.redis_link import redis_client
from runtime.ledger.port import Ledger
from runtime.model.client import ModelClient, Terms
from runtime.model.embedding import EndpointEmbedder
from runtime.model.endpoint import Endpoint
from runtime.model.limits import Limiter, LocalLimiter, RedisLimiter
from runtime.model.prices import Prices
from runtime.model.profiles import Profiles
from runtime.settings.groups import BusSettings
from runtime.settings.models import ModelSettings

if TYPE_CHECKING:
    from redis.asyncio import Redis


class Models:
    """Opened with the first request; close it before the store."""

    def __init__(self, settings: ModelSettings, key: SecretStr | None, bus: BusSettings, ledger: Ledger) -> None:
        """Take over what says where models are.

        `bus` names the Redis by which processes keep one limit together; without it each keeps it by itself.
        """
        self.endpoint = Endpoint(settings.base_url, key, stalled_s=settings.stalled_s)
        self._settings = settings
        self._bus = bus
        self._ledger = ledger
        self._redis: Redis | None = None
        self._limiters: dict[Name, Limiter] = {}
        self._profiles: dict[Name, Profiles] = {}
        self._embedders: dict[tuple[Name, str], EndpointEmbedder] = {}

    def for_run(self, organisation: Name, names: Mapping[str, str], prices: Prices) -> ModelClient | None:
        """Return the models of one execution, by the names that it pinned; None where it has none."""
        if not names:
            return None
        settings = self._settings
        terms = Terms(
            most_tokens=settings.most_tokens, context_tokens=settings.context_tokens, stream=settings.stream,
            prices=prices,
        )  # fmt: skip
        return ModelClient(
            self.endpoint, names, terms=terms, limiter=self._limiter(organisation),
            profiles=self.profiles(organisation),
        )  # fmt: skip

    def profiles(self, organisation: Name) -> Profiles:
        """Return what is known of the endpoint."""
        if organisation not in self._profiles:
            self._profiles[organisation] = Profiles(self._ledger, organisation, self.endpoint.base_url)
        return self._profiles[organisation]

    def embedder(self, organisation: Name, names: Mapping[str, str]) -> EndpointEmbedder | None:
        """Return what embeds for an organisation, by the names that its execution pinned; None without that role.

        The same one for as long as this process lives, so that an endpoint that is away is waited for once.
        """
        name = names.get("embed")
        if not name:
            return None
        if (organisation, name) not in self._embedders:
            self._embedders[organisation, name] = EndpointEmbedder(
                self.endpoint, name, limiter=self._limiter(organisation), settings=self._settings
            )
        return self._embedders[organisation, name]

    async def close(self) -> None:
        """Close the connections."""
        await self.endpoint.close()
        if self._redis is not None:
            await self._redis.aclose()

    def _limiter(self, organisation: Name) -> Limiter:
        if organisation not in self._limiters:
            self._limiters[organisation] = self._new_limiter(organisation)
        return self._limiters[organisation]

    def _new_limiter(self, organisation: Name) -> Limiter:
        settings = self._settings
        if not self._bus.url:
            return LocalLimiter(settings.at_once, per_minute=settings.per_minute)
        if self._redis is None:
            self._redis = redis_client(self._bus.url)

        async def name() -> str:
            return f"{await ledger_id(self._ledger)}:{organisation}"

        return RedisLimiter(
            self._redis, name, settings.at_once, per_minute=settings.per_minute, held_s=_HELD_S
        )  # fmt: skip


_HELD_S = 30.0
"""After so long the requests of a process that died count as over."""
