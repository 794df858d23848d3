"""What the file of a cron sensor may say: `cron:` and how its local times meet changes of clocks."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo, available_timezones

from agents.cognition.sense.cron import (
    CRON_ROOTS,
    CatchUp,
    CronDefinition,
    Repeated,
    Skipped,
    cron_fault,
    usual_repeated,
)
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds.common import SensorFile, advance_faults, raise_faults
from contracts import Name, Severity


class CronFile(SensorFile):
    """A sensor that speaks at set times."""

    cron: str
    """Minute, hour, day of month, month, day of week, local time."""
    time_zone: str = ""
    """Where that is local time; absent means the organisation's."""
    skipped: Skipped = Skipped.AFTER
    """Local times that clocks pass over: `after` the change, or `skip`."""
    repeated: Repeated | None = None
    """Local times that clocks show twice: `first`, `last` or `both`; absent follows from the hour."""
    catch_up: CatchUp = CatchUp.LAST
    """Times that passed while nobody watched: `skip`, `last` or `all`."""
    severity: Severity = Severity.LOW
    """How much it matters."""

    def definition(self, name: Name) -> CronDefinition:
        """Return it as sensors take it."""
        return CronDefinition(
            name=name,
            cron=" ".join(self.cron.split()),
            time_zone=self.time_zone,
            title=self.title,
            skipped=self.skipped,
            repeated=self.repeated or usual_repeated(self.cron),
            catch_up=self.catch_up,
            severity=self.severity,
            raises=self.raised(),
        )


def cron_faults(draft: Draft, sensor: Read[CronDefinition]) -> Iterator[Fault]:
    """Yield what is wrong with one cron sensor."""
    definition = sensor.value
    fault = cron_fault(definition.cron)
    if fault is not None:
        yield sensor.fault(
            ("cron",), f"`{definition.cron}` is no schedule: {fault}.", "Write for example `30 2 * * *`."
        )
    if definition.time_zone and not _is_zone(definition.time_zone):
        hint = nearest(definition.time_zone, available_timezones())
        yield sensor.fault(("time_zone",), f"There is no time zone `{definition.time_zone}`.", hint)
    if definition.raises is None:
        yield sensor.fault((), "It raises no goal, so that nothing would follow when it is due.", "Add `raises:`.")
    yield from raise_faults(draft, sensor, set(CRON_ROOTS))
    yield from advance_faults(draft, sensor)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True
