"""Watching under a server: the organisations that it was started with, each by one server at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from console.beats.beat import Beat
from console.resources import Resources
from runtime.errors import SiliconError

_log = logging.getLogger(__name__)


async def beat_until(stopping: asyncio.Event, resources: Resources, folders: Iterable[Path]) -> None:
    """Let sensors speak until the server stops. What fails of one organisation is told once and hinders no other."""
    beats = {folder: Beat(resources, folder) for folder in folders}
    if not beats:
        return
    told: dict[Path, str] = {}
    try:
        while not stopping.is_set():
            for folder, beat in beats.items():
                await _once(folder, beat, told)
            with suppress(TimeoutError):
                async with asyncio.timeout(resources.settings.sensor.look_s):
                    await stopping.wait()
    finally:
        for beat in beats.values():
            await beat.close()


async def _once(folder: Path, beat: Beat, told: dict[Path, str]) -> None:
    try:
        await beat.go()
    except SiliconError as error:
        if told.get(folder) != error.message:
            _log.warning("nothing is watched in %s now: %s", folder, error.message)
        told[folder] = error.message
    except Exception:  # a fault of the program must not end the server
        _log.exception("watching %s failed on a fault of the program; it goes on", folder)
    else:
        told.pop(folder, None)
