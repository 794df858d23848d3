"""`heartbeat` in org.yaml."""

from __future__ import annotations

from pydantic import Field

from agents.cognition.heartbeat.terms import HeartbeatTerms
from agents.organisation.declared import Declared, Duration


class HeartbeatEntry(Declared):
    """Whether, and how often, a server beats for the organisation; `true` and `false` alone stand for the first."""

    on: bool | None = None
    """Whether it does."""
    every: Duration | None = Field(default=None, gt=0)
    """How often there may be a round."""

    def terms(self) -> HeartbeatTerms:
        """Return it as rounds take it."""
        return HeartbeatTerms(self.on, self.every)


def on_or_off(value: object) -> object:
    """Return what `true` and `false` stand for, and anything else as it is."""
    return {"on": value} if isinstance(value, bool) else value
