"""Answers that are packed though nobody asked for it: read where they can be, and never beyond all bounds."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from runtime.errors import NetworkFault, SiliconError
from runtime.model.bounded import LONGEST_MIB
from runtime.model.endpoint import Endpoint
from runtime.model.errors import ModelAnswerTooLong
from runtime.model.unpacking import PIECE, unpacking_of
from tests.fakes.model import says
from tests.fakes.openai_server.protocol import completion_of
from tests.fakes.openai_server.script import EVENTS, Reply, sends
from tests.fakes.openai_server.server import OpenAIServer

pytestmark = pytest.mark.anyio
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
MIB = 1_024 * 1_024


def bare(data: bytes) -> bytes:
    """Return data as deflate without its frame, which some send under that name."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip in two parts": ("gzip", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    "deflate": ("deflate", zlib.compress),
    "deflate without its frame": ("deflate", bare),
}


@pytest.fixture
async def endpoint(openai_server: OpenAIServer) -> AsyncIterator[Endpoint]:
    made = Endpoint(openai_server.base_url, None, stalled_s=20)
    yield made
    await made.close()


def packed(data: bytes, how: str, *, stream: bool = False, status: int = 200) -> Reply:
    media_type = EVENTS if stream else "application/json"
    return sends(data, status=status, media_type=media_type, Content_Encoding=how)


def bomb(line: bytes, *, mib: int) -> bytes:
    """Return a few thousand bytes that become so many MiB."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    block = line * (MIB // len(line))
    return b"".join(packer.compress(block) for _ in range(mib)) + packer.flush()


async def answer_of(endpoint: Endpoint, *, stream: bool = False) -> Any:
    if stream:
        return [part async for part in endpoint.stream({**BODY, "stream": True})]
    return await endpoint.complete(BODY)


async def failure(endpoint: Endpoint, *, stream: bool = False) -> SiliconError:
    with pytest.raises(SiliconError) as caught:
        await answer_of(endpoint, stream=stream)
    return caught.value


@pytest.mark.parametrize(("how", "pack"), PACKERS.values(), ids=PACKERS)
async def test_a_packed_answer_is_read(
    endpoint: Endpoint, openai_server: OpenAIServer, how: str, pack: Callable[[bytes], bytes]
) -> None:
    completion = json.dumps(completion_of(says("Hello.")))
    openai_server.plays(packed(pack(completion.encode()), how))
    answer = await answer_of(endpoint)
    assert answer["choices"][0]["message"]["content"] == "Hello."
    assert openai_server.chats[0].headers["accept-encoding"] == "identity"


async def test_a_packed_stream_is_read(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(packed(gzip.compress(b'data: {"n": 1}\n\ndata: {"n": 2}\n\n'), "gzip", stream=True))
    assert await answer_of(endpoint, stream=True) == [{"n": 1}, {"n": 2}]


BLANK, EVENT = b" " * 1_024, b'data: "%s"\n\n' % (b"a" * 1_014)
BOMBS = {
    "whole": (False, 200, BLANK),
    "fault": (False, 400, BLANK),
    "events": (True, 200, EVENT),
    "one event without end": (True, 200, BLANK),
}


@pytest.mark.parametrize(("stream", "status", "line"), BOMBS.values(), ids=BOMBS)
async def test_a_bomb_is_not_read_beyond_the_limit(
    endpoint: Endpoint, openai_server: OpenAIServer, stream: bool, status: int, line: bytes
) -> None:
    data = bomb(line, mib=4 * LONGEST_MIB)
    assert len(data) < MIB
    openai_server.plays(packed(data, "gzip", stream=stream, status=status))
    error = await failure(endpoint, stream=stream)
    assert isinstance(error, ModelAnswerTooLong)
    assert f"more than {LONGEST_MIB * MIB:,} bytes" in error.message


async def test_whoever_reads_a_bomb_can_be_stopped(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(packed(bomb(b"data: {}\n\n", mib=LONGEST_MIB - 1), "gzip", stream=True))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await answer_of(endpoint, stream=True)


def test_of_a_bomb_only_so_much_is_in_memory_at_once() -> None:
    unpacking = unpacking_of(["gzip"])
    assert unpacking is not None
    sizes = [len(piece) for piece in unpacking.pieces(bomb(BLANK, mib=16))]
    assert (max(sizes), sum(sizes), unpacking.whole) == (PIECE, 16 * MIB, True)


WRONG = {
    "br": ("br", b"anything", "br"),
    "twice": ("gzip, gzip", gzip.compress(gzip.compress(b"{}")), "gzip, gzip"),
    "not packed at all": ("gzip", b'{"choices": []}', "cannot be unpacked"),
    "half of it": ("gzip", gzip.compress(json.dumps(list(range(500))).encode())[:-20], "ends in the middle"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("how", "data", "told"), WRONG.values(), ids=WRONG)
async def test_what_nobody_can_unpack_is_told_as_that(
    endpoint: Endpoint, openai_server: OpenAIServer, how: str, data: bytes, told: str, stream: bool
) -> None:
    openai_server.plays(packed(data, how, stream=stream))
    error = await failure(endpoint, stream=stream)
    assert isinstance(error, NetworkFault)
    assert told in error.message
