"""Channels as an organisation declares them, and who wants to be told what by which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import TypeAlias
from zoneinfo import ZoneInfo

from contracts import Name, Severity

RANK = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2, Severity.CRITICAL: 3}
"""How severities compare."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that gets a signed POST for each message."""

    name: Name
    url: str
    secret: str
    """Name of the secret that it is signed with."""
    allow_private: bool = False
    """Whether it may be inside a private network or this machine."""


class Security(StrEnum):
    """How a mail server is spoken to."""

    STARTTLS = "starttls"
    """In plain first, then over TLS; a server that cannot is given nothing."""
    TLS = "tls"
    """Over TLS from the start."""
    NONE = "none"
    """In plain: for a server of one's own network only."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mail server that takes messages for people."""

    name: Name
    host: str
    port: int
    sender: str
    """Address that messages come from."""
    security: Security = Security.STARTTLS
    user: str = ""
    """Who logs in there; empty for nobody."""
    secret: str = ""
    """Name of the secret with that one's password."""
    allow_private: bool = False


Channel: TypeAlias = Webhook | Mailbox


@dataclass(frozen=True, slots=True)
class Notify:
    """That a person is told by a channel, from a severity on."""

    by: Name
    least: Severity = Severity.LOW

    def covers(self, severity: Severity) -> bool:
        """Whether something of that severity is told."""
        return RANK[severity] >= RANK[self.least]


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours of the day in which a person is left alone, in the organisation's time zone."""

    begins: time
    ends: time
    """Earlier than the beginning: on the next day."""
    unless: Severity | None = None
    """From this severity on it is told all the same; None: nothing is."""

    def until(self, now: datetime, severity: Severity, zone: ZoneInfo) -> datetime:
        """Return when it may be told: now, or at the end of the quiet hours, in UTC.

        The end is that of the clock on the wall: in the night of a change it may be an hour more or less away.
        """
        if self.unless is not None and RANK[severity] >= RANK[self.unless]:
            return now
        local = now.astimezone(zone)
        at, overnight = local.time().replace(tzinfo=None), self.ends <= self.begins
        inside = at >= self.begins or at < self.ends if overnight else self.begins <= at < self.ends
        if not inside:
            return now
        day = local.date() + timedelta(days=1) if overnight and at >= self.begins else local.date()
        return datetime.combine(day, self.ends, zone).astimezone(now.tzinfo)
