"""What an operator is told about the Redis that the settings name."""

from __future__ import annotations

import pytest

from runtime.bus import look_at_redis
from runtime.errors import SettingsError
from runtime.settings import BusSettings
from tests.servers import Redis, redis_server

__all__ = ["redis_server"]
pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("redis")]


async def test_a_redis_that_answers_is_named(redis_server: Redis) -> None:
    answers, what = await look_at_redis(BusSettings(url=redis_server.url))

    assert answers and what.startswith("Redis ") and what.endswith(f" at 127.0.0.1:{redis_server.port}")


async def test_a_redis_that_does_not_answer_is_told_without_its_password() -> None:
    answers, what = await look_at_redis(BusSettings(url="redis://me:secret@127.0.0.1:1/0"))

    assert not answers and what.startswith("127.0.0.1:1 cannot be used: ") and "secret" not in what


@pytest.mark.parametrize(
    "url",
    ["nowhere", "redix://h", "redis://h:port", "redis://h/name", "redis://h?bogus=1", "redis://h?protocol=9",
     "rediss://h?ssl_cert_reqs=bogus", "redis://h?socket_timeout=soon"],
)  # fmt: skip
async def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(SettingsError, match="is not an address of Redis"):
        await look_at_redis(BusSettings(url=url))


@pytest.mark.parametrize("password", ["S3cr@et/PW", "S3cr/etPW", "S3cr#etPW", "S3cr?et@PW", "#S3cretPW", "/@S3cretPW"])
async def test_no_part_of_a_password_that_runs_into_the_host_is_told(password: str) -> None:
    with pytest.raises(SettingsError, match="nobody can tell where its host begins") as refused:
        await look_at_redis(BusSettings(url=f"redis://me:{password}@127.0.0.1:1/0"))

    assert not any(part in str(refused.value) for part in ("S3cr", "PW"))
