"""What telling people needs to know of their organisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from contracts import Name
from governance.access.people import People
from governance.channels.channel import Channel


@dataclass(frozen=True, slots=True)
class Told:
    """An organisation as it stands now."""

    people: People
    channels: Mapping[Name, Channel]
    zone: ZoneInfo
    language: str
