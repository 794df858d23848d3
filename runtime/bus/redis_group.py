"""The commands of one consumer group of Redis, in positions of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runtime.bus.redis_link import NothingThere, RedisLink, position_of

GONE_MS = 600_000
"""A member that did nothing for this long, and has nothing in hand, is forgotten."""
MOST_PENDING = 10_000


class RedisGroup:
    """What one member asks Redis. Everything raises `RedisAway` or `NothingThere`; see the link."""

    def __init__(self, link: RedisLink, group: str, member: str) -> None:
        self._link = link
        self._stream = link.stream
        self._group = group
        self._member = member

    async def make(self, *, after: int) -> None:
        """Make the group, which begins after the position; one that is there stays as it is."""
        await self._link.make_group(self._group, after=after)

    async def read(self, count: int, *, block_ms: int) -> list[int]:
        """Return what this member is given, or nothing when the time is over."""
        answer: Any = await self._link.ask(
            lambda redis: redis.xreadgroup(self._group, self._member, {self._stream: ">"}, count=count, block=block_ms)
        )
        return [position_of(entry_id) for entry_id, _ in answer[0][1]] if answer else []

    async def claim(self, count: int, *, idle_ms: int) -> list[int]:
        """Take what other members have not acknowledged for so long."""
        answer: Any = await self._link.ask(
            lambda redis: redis.xautoclaim(self._stream, self._group, self._member, min_idle_time=idle_ms, count=count)
        )
        return [position_of(entry_id) for entry_id, _ in answer[1] if entry_id]

    async def acknowledge(self, positions: Iterable[int]) -> None:
        """Tell that nothing more is needed."""
        ids = tuple(map(_id, positions))
        if ids:
            await self._link.ask(lambda redis: redis.xack(self._stream, self._group, *ids))

    async def keep(self, positions: Iterable[int], *, idle_ms: int = 0) -> None:
        """Tell that this member still works on these; or with `idle_ms`, since when it does not."""
        ids: list[Any] = list(map(_id, positions))
        if ids:
            await self._link.ask(
                lambda redis: redis.xclaim(self._stream, self._group, self._member, 0, ids, idle=idle_ms, justid=True)
            )

    async def pending(self, positions: Sequence[int]) -> set[int]:
        """Return the positions that some member has in hand, between the least and the greatest of these."""
        answer: Any = await self._link.ask(
            lambda redis: redis.xpending_range(
                self._stream, self._group, _id(min(positions)), _id(max(positions)), MOST_PENDING
            )
        )
        return {position_of(one["message_id"]) for one in answer}

    async def given(self) -> int:
        """Return the greatest position that was given to a member."""
        answer: Any = await self._link.ask(lambda redis: redis.xinfo_groups(self._stream))
        for group in answer:
            if group["name"] == self._group:
                return position_of(group["last-delivered-id"])
        raise NothingThere(f"There is no group {self._group}.")

    async def kept(self) -> tuple[int, int]:
        """Return the first position that Redis keeps, and the last that it was told; the first may be none."""
        answer: Any = await self._link.ask(lambda redis: redis.xinfo_stream(self._stream))
        last = position_of(answer["last-generated-id"])
        first = answer["first-entry"]
        return (position_of(first[0]) if first else last + 1), last

    async def forget_members(self) -> None:
        """Forget the members that are gone."""
        answer: Any = await self._link.ask(lambda redis: redis.xinfo_consumers(self._stream, self._group))
        for one in answer:
            if one["pending"] == 0 and one["idle"] > GONE_MS and one["name"] != self._member:
                await self._link.ask(
                    lambda redis, name=one["name"]: redis.xgroup_delconsumer(self._stream, self._group, name)  # type: ignore[misc]
                )


def _id(position: int) -> str:
    return f"{position}-0"
