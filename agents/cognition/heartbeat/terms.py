"""What an organisation says about its own heartbeat."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeartbeatTerms:
    """What org.yaml says; None leaves it to the settings."""

    on: bool | None = None
    every_s: float | None = None
