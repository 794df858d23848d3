"""What every group of settings is made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

LONGEST_DAYS = 36_525
"""What is kept that many days, a hundred years, is kept for ever; more would reach before the first year there is."""
LONGEST_S = 10 * 366 * 86_400
"""Ten years, as for durations in the files of an organisation."""
DAY_S = 86_400
"""The longest wait that every database and every socket can be told."""
MOST_REQUESTS = 1_000_000


class Group(BaseModel):
    """Settings of one room."""

    model_config = ConfigDict(frozen=True, extra="forbid")
