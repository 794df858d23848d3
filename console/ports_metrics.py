"""What a face needs of the versions of metrics; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from console.views_metrics import MetricShown, MetricVersionRow


class MetricsPort(Protocol):
    """What an organisation measures, and how that changed.

    Whoever reads an organisation's metrics after a definition changed records the change, and its sensors begin anew.
    """

    async def metric(self, folder: Path, name: str) -> MetricShown:
        """Return one metric with its version.

        Raises:
            NotFound: there is no such metric; the message says which are near.
        """
        ...

    async def metric_versions(self, folder: Path, name: str) -> Sequence[MetricVersionRow]:
        """Return the versions of a metric, oldest first, also of one that the folder has no more.

        Raises:
            NotFound: there is none, and never was.
        """
        ...
