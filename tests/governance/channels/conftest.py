"""People with channels, a courier over a real ledger, and what stands for the other side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest

from console.texts import say_in
from contracts import Severity
from governance.access import People, Person, Role
from governance.approvals import ApprovalGateway
from governance.channels import Channel, Delivery, Mailbox, Notify, Quiet, Webhook
from governance.channels.courier import Courier
from governance.channels.told import Told
from runtime.ledger.store import SqlStore
from runtime.settings.channels import ChannelSettings
from tests.fakes.clock import HandClock
from tests.governance.cards import DANA, MORGAN, ORGANISATION, ROBIN

HOOK = Webhook("hook", "http://127.0.0.1/hook", "HOOK_SECRET", allow_private=True)
MAIL = Mailbox("mail", "127.0.0.1", 25, "silicon@example.org", allow_private=True)
SAM = Person(
    "sam", "Sam Ortiz", frozenset({Role.APPROVER}), frozenset({"duty-managers"}), email="sam@example.org",
    notify=(Notify("mail", Severity.HIGH),), quiet=Quiet(time(22), time(7), Severity.CRITICAL),
)  # fmt: skip
SETTINGS = ChannelSettings(link_base="https://silicon.example.org/", attempts=3, retry_first_s=10)


@dataclass
class Sent:
    """Stands for the other side: keeps what arrives, and fails as long as it is told to."""

    got: list[tuple[str, Delivery, str]] = field(default_factory=list)
    fails: Callable[[Delivery], Exception | None] = lambda delivery: None

    def titles(self) -> list[tuple[str, str]]:
        return [(to, delivery.title) for to, delivery, _ in self.got]

    async def send(self, delivery: Delivery, channel: Channel, *rest: object) -> None:
        """Take a delivery."""
        error = self.fails(delivery)
        if error is not None:
            raise error
        *_, link, _now = rest
        self.got.append((f"{delivery.person} by {channel.name}", delivery, str(link)))


@dataclass
class World:
    """An organisation whose people are told."""

    store: SqlStore
    clock: HandClock
    people: tuple[Person, ...] = (
        replace(MORGAN, notify=(Notify("hook"),)), SAM, replace(DANA, notify=(Notify("hook"),)), ROBIN,
    )  # fmt: skip
    channels: Mapping[str, Channel] = field(default_factory=lambda: {"hook": HOOK, "mail": MAIL})
    sent: Sent = field(default_factory=Sent)

    @property
    def gateway(self) -> ApprovalGateway:
        return ApprovalGateway(self.store, self.clock, People(self.people), ORGANISATION)

    async def told(self, organisation: str) -> Told | None:
        if organisation != ORGANISATION:
            return None
        return Told(People(self.people), self.channels, ZoneInfo("America/New_York"), "en")

    def courier(self) -> Courier:
        """Return a courier as a process that just started has it."""
        return Courier(
            self.store.ledger, self.clock, SETTINGS, self, webhooks=self.sent, mails=self.sent, say_in=say_in
        )  # fmt: skip


@pytest.fixture
async def world(sqlite_store: SqlStore, clock: HandClock) -> World:
    """A world whose courier has looked once: from now on everything is told."""
    made = World(sqlite_store, clock)
    await made.courier().step()
    return made


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("America/New_York"))
