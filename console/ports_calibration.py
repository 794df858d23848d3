"""What a face needs of self-evaluation; part of the port `Application`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Protocol

from console.views_calibration import Calibration, EvaluationDone


class Calibrations(Protocol):
    """What was promised against what happened, in one organisation."""

    async def calibration(self, folder: Path) -> Calibration:
        """Return the reliability table, every promise that was judged, and the gaps that were proposed."""
        ...

    async def evaluate(self, folder: Path, *, at: datetime | None) -> EvaluationDone:
        """Judge the promises whose period is over at `at`, settle the labels, and propose skills for gaps.

        Twice does no harm: each promise is judged once, and each gap is proposed once.
        """
        ...
