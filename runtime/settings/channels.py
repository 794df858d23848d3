"""How people are told outside of the console."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import DAY_S, LONGEST_S, Group


class ChannelSettings(Group):
    """Webhooks and e-mail."""

    link_base: str = Field(default="", pattern=r"^(https?://[^\s]+)?$")
    """Address under which people reach this server, such as https://silicon.example.org; empty sends no links."""
    look_s: float = Field(default=2.0, gt=0, le=LONGEST_S)
    """How often a server looks for what people are to be told."""
    timeout_s: float = Field(default=15.0, gt=0, le=DAY_S)
    """One try to deliver a message."""
    attempts: int = Field(default=8, ge=1, le=100)
    """Tries before a message is given up and kept as a dead letter."""
    retry_first_s: float = Field(default=10.0, gt=0, le=LONGEST_S)
    """Wait before the second try; it doubles each time."""
    retry_most_s: float = Field(default=3_600.0, gt=0, le=LONGEST_S)
    """Longest wait between two tries."""
    at_once: int = Field(default=8, ge=1, le=1_000)
    """Messages on their way at once."""
