"""Alerts, where `alerts.yaml` says nothing, and attention. Times in seconds."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from runtime.settings.group import LONGEST_S, Group


class AlertSettings(Group):
    """Alerts, where the organisation's `alerts.yaml` says nothing."""

    group_wait_s: float = Field(default=30.0, ge=0, le=LONGEST_S)
    """How long the first alert of a group waits for others before people are told."""
    group_interval_s: float = Field(default=300.0, ge=0, le=LONGEST_S)
    """Least time between two messages about a group in which something is new."""
    repeat_s: float = Field(default=14_400.0, gt=0, le=LONGEST_S)
    """After so long people are told again of what is still open (4 h)."""
    resolve_after_s: float = Field(default=129_600.0, gt=0, le=LONGEST_S)
    """An alert of which nothing was heard for so long is over (36 h: what speaks once a day may miss no day)."""
    flap_window_s: float = Field(default=21_600.0, gt=0, le=LONGEST_S)
    """How far flap detection looks back; an alert that comes back within it is the same (6 h)."""
    flap_begins: int = Field(default=6, ge=2, le=100)
    """An alert that came or went so often inside the window flaps: that is told once, then nothing of it."""
    flap_ends: int = Field(default=2, ge=0, le=99, validate_default=True)
    """It is steady again when it came or went so seldom; less than `flap_begins`."""
    silence_most_s: float = Field(default=2_592_000.0, gt=0, le=LONGEST_S)
    """Longest silence that can be made (30 days)."""
    signals_at_once: int = Field(default=10_000, ge=1, le=50_000)
    """Raw signals that go into one commit."""

    @field_validator("flap_ends")
    @classmethod
    def _below_the_beginning(cls, ends: int, info: ValidationInfo) -> int:
        """Refuse one number for both: an alert at it would flap between flapping and not."""
        begins = info.data.get("flap_begins")
        if begins is not None and ends >= begins:
            raise ValueError(f"it is {ends}, and flap_begins is {begins}; it has to be less")
        return ends


class AttentionSettings(Group):
    """Which alerts are seen to first, and how often sensors look."""

    at_once: int = Field(default=10, ge=1)
    """Alerts that are seen to in one round; the rest is listed with the reason and comes later."""
    severity_weight: float = Field(default=0.4, ge=0)
    """What the severity counts, at most."""
    timeliness_weight: float = Field(default=0.2, ge=0)
    """What urgency and how fresh it is count together, at most."""
    impact_weight: float = Field(default=0.4, ge=0)
    """What the impact counts, at most."""
    half_life_s: float = Field(default=21_600.0, gt=0, le=LONGEST_S)
    """After so long without a new signal an alert is half as fresh (6 h)."""
    ageing_per_h: float = Field(default=0.05, gt=0)
    """What each hour of waiting adds, without end: nothing starves."""
    look_every_s: float = Field(default=900.0, gt=0, le=LONGEST_S)
    """How often a sensor looks to begin with, where it has no schedule of its own."""
    look_least_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """Shortest time between two looks, where anomalies rise."""
    look_most_s: float = Field(default=14_400.0, gt=0, le=LONGEST_S)
    """Longest time between two looks, where it is calm."""
    faster: float = Field(default=0.5, gt=0, lt=1)
    """A look that finds an anomaly makes the time between two looks so many times as long."""
    slower: float = Field(default=1.5, gt=1)
    """Calm makes it so many times as long."""
    calm_looks: int = Field(default=4, ge=1)
    """Looks in a row without an anomaly that are calm."""
