"""What a face needs of alerts and attention; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from console.views_alerts import AlertEvent, AlertRow, AlertsShown, AttentionShown, SilenceRow
from contracts import AlertId, Name, SilenceId

if TYPE_CHECKING:
    from governance.alerts import Matcher

Sees = Callable[[Name | None], bool]
"""Whether what happens at an employee may be seen; None stands for what concerns the whole organisation."""


def sees_all(place: Name | None) -> bool:
    """Let everything be seen."""
    return True


class AlertsPort(Protocol):
    """The alerts of an organisation. Where `at` is absent, its clock tells."""

    async def alerts(
        self, folder: Path, *, all_: bool = False, match: Sequence[str] = (), at: datetime | None = None,
        sees: Sees = sees_all,
    ) -> AlertsShown:  # fmt: skip
        """Return alerts that go on, the most pressing first, with `all_` those that ended lately too.

        Args:
            folder: the organisation.
            all_: also those that are over but would be the same if they came back.
            match: `LABEL=VALUE` each; only alerts that have them all.
            at: the moment.
            sees: which departments whoever asks may look at.

        Raises:
            InvalidArguments: a match cannot be read.
        """
        ...

    async def alert(
        self, folder: Path, alert_id: AlertId, *, sees: Sees = sees_all
    ) -> tuple[AlertRow, Sequence[AlertEvent]]:
        """Return one alert with its history, closed ones too; raise NotFound when it is not there to be seen."""
        ...

    async def acknowledge_alert(
        self, folder: Path, alert_id: AlertId, *, by: str | None, reason: str = "", at: datetime | None = None
    ) -> AlertRow:
        """Take an alert on, so that nobody else is called.

        Raises:
            NotFound: there is no such alert.
            AlertPast: somebody has, or it is over.
            PermissionRefused: the person neither operates there nor was told of it.
        """
        ...

    async def resolve_alert(
        self, folder: Path, alert_id: AlertId, *, by: str | None, reason: str = "", at: datetime | None = None
    ) -> AlertRow:
        """Say that an alert is over; raises as `acknowledge_alert`."""
        ...

    async def silence_alerts(
        self, folder: Path, match: Matcher, *, by: str | None, reason: str, until: datetime | None = None,
        lasts: timedelta | None = None, at: datetime | None = None,
    ) -> SilenceRow:  # fmt: skip
        """Let nobody be told of what matches, until a moment or for so long.

        Raises:
            InvalidArguments: it matches everything, gives no reason or no end, or lasts too long.
            PermissionRefused: the person does not operate the whole organisation.
        """
        ...

    async def lift_silence(
        self, folder: Path, silence_id: SilenceId, *, by: str | None, at: datetime | None = None
    ) -> SilenceRow:
        """End a silence now.

        Raises:
            NotFound: there is no such silence.
            AlertPast: it is over already.
            PermissionRefused: the person does not operate the whole organisation.
        """
        ...

    async def attention(self, folder: Path, *, at: datetime | None = None, sees: Sees = sees_all) -> AttentionShown:
        """Return what would be seen to now, what would not and why, and how often sensors look."""
        ...

    async def alert_ids(self, folder: Path) -> Sequence[AlertId]:
        """Return the ids of all alerts of the organisation, oldest first."""
        ...

    async def silence_ids(self, folder: Path) -> Sequence[SilenceId]:
        """Return the ids of all silences of the organisation, oldest first."""
        ...
