"""Alerts as people see to them: shown, acknowledged, silenced, by the roles of now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from agents.cognition.attend import Attention, Sampling
from agents.organisation import Organisation
from console.asking import known_at
from console.folders import folder_of
from console.ports_alerts import Sees, sees_all
from console.resources import Resources
from console.seeing import Seeing
from console.system_user import system_user
from console.views_alerts import AlertEvent, AlertRow, AlertsShown, AttentionShown, SilenceRow
from contracts import AlertId, Event, Name, SilenceId
from governance.access import Person
from governance.access.people import OPERATING
from governance.alerts import AlertRules, Alerts, AlertView, Matcher, typed_matcher
from governance.alerts.fold import moment
from governance.alerts.hushing import matched_labels
from runtime.errors import InvalidArguments, NotFound, PermissionRefused
from runtime.ledger.port import Store
from runtime.settings.load import Settings

_NOT_SHOWN = ("at", "keys", "forget")
"""Facts of events that only the program needs."""


class _Desk:
    """The alerts of one organisation in this process, by its folder of now."""

    def __init__(self, store: Store, settings: Settings, organisation: Organisation) -> None:
        self.organisation = organisation
        self.ledger = store.ledger
        self.alerts = Alerts(store, organisation.name, lambda: rules_of(self.organisation, settings))
        self.attention = Attention(store, self.alerts, organisation.name, settings.attention)
        self.sampling = Sampling(store, organisation.name, settings.attention)


class Alerting:
    """The port `AlertsPort`."""

    _resources: Resources

    @cached_property
    def _desks(self) -> dict[Name, _Desk]:
        """Kept from request to request: a desk knows what is open and reads only what is new."""
        return {}

    async def alerts(
        self, folder: Path, *, all_: bool = False, match: Sequence[str] = (), at: datetime | None = None,
        sees: Sees = sees_all,
    ) -> AlertsShown:  # fmt: skip
        """Return alerts that go on; see the port."""
        sees = self._bounded(folder, sees)
        desk, now = await self._now(folder, at)
        wanted = typed_matcher(tuple(match))
        views = await desk.alerts.recent() if all_ else await desk.alerts.open(now)
        shown = [view for view in views if wanted.matches(matched_labels(view))]
        seen = tuple(AlertRow.of(view) for view in shown if sees(place_of(desk.organisation, view)))
        silences = await desk.alerts.silences(now) if sees(None) else ()
        return AlertsShown(now, seen, tuple(map(SilenceRow.of, silences)))

    async def alert(
        self, folder: Path, alert_id: AlertId, *, sees: Sees = sees_all
    ) -> tuple[AlertRow, Sequence[AlertEvent]]:
        """Return one alert with its history; see the port."""
        sees = self._bounded(folder, sees)
        desk = await self._desk(folder)
        view = await desk.alerts.get(alert_id)
        if not sees(place_of(desk.organisation, view)):
            raise NotFound(f"There is no {alert_id} here.", id=alert_id)
        events = await desk.ledger.read(alert_id)
        return AlertRow.of(view), [_shown(event) for event in events if event.data is not None]

    async def acknowledge_alert(
        self, folder: Path, alert_id: AlertId, *, by: str | None, reason: str = "", at: datetime | None = None
    ) -> AlertRow:
        """Take an alert on; see the port."""
        desk, now = await self._now(folder, at)
        person = await self._may_see_to(desk, alert_id, by)
        return AlertRow.of(await desk.alerts.acknowledge(alert_id, person, now, reason))

    async def resolve_alert(
        self, folder: Path, alert_id: AlertId, *, by: str | None, reason: str = "", at: datetime | None = None
    ) -> AlertRow:
        """Say that an alert is over; see the port."""
        desk, now = await self._now(folder, at)
        person = await self._may_see_to(desk, alert_id, by)
        return AlertRow.of(await desk.alerts.resolve(alert_id, person, now, reason))

    async def silence_alerts(
        self, folder: Path, match: Matcher, *, by: str | None, reason: str, until: datetime | None = None,
        lasts: timedelta | None = None, at: datetime | None = None,
    ) -> SilenceRow:  # fmt: skip
        """Let nobody be told of what matches; see the port."""
        desk, now = await self._now(folder, at)
        person = _may_silence(desk.organisation, by)
        if (until is None) == (lasts is None):
            raise InvalidArguments("A silence ends: say until when, or for how long, and not both.")
        end = now + lasts if lasts is not None else known_at(desk.organisation, until)
        assert end is not None, "one of the two was given"
        made = await desk.alerts.silence(match, person, now, until=end, reason=reason)
        return SilenceRow.of(made)

    async def lift_silence(
        self, folder: Path, silence_id: SilenceId, *, by: str | None, at: datetime | None = None
    ) -> SilenceRow:
        """End a silence now; see the port."""
        desk, now = await self._now(folder, at)
        return SilenceRow.of(await desk.alerts.lift(silence_id, _may_silence(desk.organisation, by), now))

    async def attention(self, folder: Path, *, at: datetime | None = None, sees: Sees = sees_all) -> AttentionShown:
        """Return what would be seen to now; see the port."""
        sees = self._bounded(folder, sees)
        desk, now = await self._now(folder, at)
        attended = await desk.attention.now(now)
        organisation = desk.organisation
        seen = replace(
            attended,
            order=tuple(each for each in attended.order if sees(place_of(organisation, each.alert))),
            left_out=tuple(each for each in attended.left_out if sees(place_of(organisation, each.alert))),
        )
        return AttentionShown.of(seen, await desk.sampling.rates() if sees(None) else {})

    def _bounded(self, folder: Path, sees: Sees) -> Sees:
        """Return what of that the system user may see as well, where somebody types commands."""
        sight = Seeing(self._resources, self._resources.onlooker).in_folder(folder)
        return sees if sight.whole else lambda place: sees(place) and sight.sees(place)

    async def alert_ids(self, folder: Path) -> Sequence[AlertId]:
        """Return the ids of all alerts of the organisation."""
        return [AlertId(stream) for stream in await self._streams(folder, AlertId.KIND)]

    async def silence_ids(self, folder: Path) -> Sequence[SilenceId]:
        """Return the ids of all silences of the organisation."""
        return [SilenceId(stream) for stream in await self._streams(folder, SilenceId.KIND)]

    async def _streams(self, folder: Path, kind: str) -> Sequence[str]:
        desk = await self._desk(folder)
        return await desk.ledger.streams(kind, organisation=desk.organisation.name)

    async def _may_see_to(self, desk: _Desk, alert_id: AlertId, by: str | None) -> Person:
        """Return the person, who operates where the alert belongs or was told of it."""
        view = await desk.alerts.get(alert_id)
        people = desk.organisation.people
        person = people.acting(by, system_user())
        place = place_of(desk.organisation, view)
        if OPERATING.isdisjoint(people.roles_at(person, place)) and not person.is_called(list(view.told_to)):
            raise PermissionRefused(
                f"{person.name} may not see to {alert_id}: that takes the role operator or admin"
                f"{f' in the department of {place}' if place else ''}, or somebody who was told of it. "
                "`as` (--as) says who acts.",
                person=person.id, alert=alert_id,
            )  # fmt: skip
        return person

    async def _now(self, folder: Path, at: datetime | None) -> tuple[_Desk, datetime]:
        desk = await self._desk(folder)
        return desk, known_at(desk.organisation, at) or self._resources.clock.now()

    async def _desk(self, folder: Path) -> _Desk:
        organisation, _ = await (await self._resources.organisations()).current(folder_of(folder))
        desk = self._desks.get(organisation.name)
        if desk is None:
            desk = _Desk(await self._resources.store(), self._resources.settings, organisation)
            self._desks[organisation.name] = desk
        desk.organisation = organisation
        return desk


def rules_of(organisation: Organisation, settings: Settings) -> AlertRules:
    """Return what an organisation says about its alerts, and what the settings say where it says nothing."""
    return organisation.alerts.rules(settings.alerts, settings.sensor, organisation.zone)


def place_of(organisation: Organisation, view: AlertView) -> Name | None:
    """Return where an alert belongs: at the owner of its metric; None where it concerns the whole organisation."""
    metric = organisation.metrics.get(view.labels.get("metric", ""))
    return None if metric is None else metric.owner


def _may_silence(organisation: Organisation, by: str | None) -> Person:
    """Return the person, who operates the whole organisation: a silence may hide what belongs to any department."""
    person = organisation.people.acting(by, system_user())
    if OPERATING.isdisjoint(organisation.people.roles_at(person, None)):
        raise PermissionRefused(
            f"{person.name} may not make or lift silences: they may hide what belongs to any department, so that takes "
            "the role operator or admin for the whole organisation. `as` (--as) says who acts.",
            person=person.id,
        )
    return person


def _shown(event: Event) -> AlertEvent:
    data = event.data or {}
    return AlertEvent(
        event.type, moment(data["at"]), {name: fact for name, fact in data.items() if name not in _NOT_SHOWN}
    )
