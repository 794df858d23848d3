"""Carries the browser's connections to the socket behind which the network lies."""

from __future__ import annotations

import asyncio
import contextlib


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: str) -> None:
    """Carry one connection of the browser to the proxy and back."""
    try:
        inwards, outwards = await asyncio.open_unix_connection(proxy)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, outwards), pump(inwards, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes one way until one side ends."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()
