"""What is known of endpoints, kept in the ledger so that each is found out about once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from contracts import Name
from runtime.canonical import sha256
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.model.profile import Profile

PROBED = "endpoint.probed"
LEARNT = "endpoint.learnt"
"""It lacks something after all: a request showed it."""


class Profiles:
    """The profiles of the models of one endpoint, as one organisation found them: a stream `endpoint/…` each."""

    def __init__(self, ledger: Ledger, organisation: Name, base_url: str) -> None:
        self._ledger = ledger
        self._organisation = organisation
        self._base_url = base_url
        self._known: dict[str, Profile] = {}
        self._finding = asyncio.Lock()

    def known(self, model: str) -> Profile | None:
        """Return the profile of a model if this process has it at hand."""
        return self._known.get(model)

    async def of(self, model: str, find_out: Callable[[], Awaitable[Profile]]) -> Profile:
        """Return the profile of a model; `find_out` is asked where nobody found out before, once in this process."""
        if (known := self.known(model)) is not None:
            return known
        async with self._finding:
            if model not in self._known:
                kept = await self.kept(model)
                if kept is None:
                    kept = await find_out()
                    await self._keep(model, PROBED, kept, first=True)
                self._known[model] = kept
            return self._known[model]

    async def kept(self, model: str) -> Profile | None:
        """Return what was found out before, None for nothing."""
        events = await self._ledger.read(self._stream(model))
        data: Any = events[-1].data if events else None
        return Profile.read(data["profile"]) if data else None

    async def learn(self, model: str, profile: Profile) -> None:
        """Take note that the model's profile is another one than was thought."""
        self._known[model] = profile
        await self._keep(model, LEARNT, profile, first=False)

    async def find_anew(self, model: str, profile: Profile) -> None:
        """Take note of what was found out again, because somebody asked for that."""
        self._known[model] = profile
        await self._keep(model, PROBED, profile, first=False)

    async def _keep(self, model: str, what: str, profile: Profile, *, first: bool) -> None:
        stream = self._stream(model)
        data = {"base_url": self._base_url, "model": model, "profile": profile.to_json()}
        version = 0 if first else len(await self._ledger.read(stream))
        append = Append(
            stream=stream, events=[NewEvent(what, data)], expected_version=version, organisation=self._organisation,
            source=f"/organisation/{self._organisation}",
        )  # fmt: skip
        try:
            await self._ledger.append(append)
        except VersionConflict:
            return  # another process found out at the same time; either is as good

    def _stream(self, model: str) -> str:
        return f"endpoint/{self._organisation}/{sha256([self._base_url, model])[:32]}"
