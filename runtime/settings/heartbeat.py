"""The rounds in which an organisation looks, decides, acts and checks what came of it."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import LONGEST_S, Group


class HeartbeatSettings(Group):
    """Rounds of observe, orient, decide, act and evaluate, and the work that an organisation asks of itself."""

    on: bool = True
    """Whether servers beat for the organisations that they were started with; org.yaml may say otherwise."""
    every_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """How often there may be a round, unless org.yaml says otherwise; one without anything to say is not recorded."""
    signals: int = Field(default=200, ge=1, le=10_000)
    """Signals that one round takes in at most; the rest is the next one's."""
    stale_s: float = Field(default=86_400.0, gt=0, le=LONGEST_S)
    """What was noticed longer ago, while no rounds were made, is not acted on any more (1 d)."""
    evaluate_s: float = Field(default=3_600.0, gt=0, le=LONGEST_S)
    """How often promises of decided cards are held against what happened (1 h)."""
    meta_share: float = Field(default=0.25, ge=0, le=10)
    """Meta work (what sensors ask for that advances no goal) that may be begun for each work that advances one."""
    meta_least: int = Field(default=10, ge=0)
    """Meta work that may be begun in `window_days` however little else there is."""
    window_days: int = Field(default=7, ge=1, le=366)
    """Days over which both are counted."""
