"""Takes what happened to people by their channels: from a stored cursor, tried again, told once as far as that goes.

One step moves the cursor in the commit that queues the deliveries, so that a process that dies loses none and queues
none twice. A delivery is sent before that is recorded: killed in between, it is sent once more, under the same id.
Nothing of the work waits for any of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from contracts import CardId, DeliveryId, Event, Name
from governance.access.people import People, Person
from governance.channels.channel import Mailbox, Webhook
from governance.channels.delivery import (
    DEAD,
    DROPPED,
    FAILED,
    OPEN_TYPES,
    SENT,
    Delivery,
    fold_delivery,
    happened,
    queued,
)
from governance.channels.errors import NeverTaken, NotDelivered
from governance.channels.messages import TELLERS, Message, Telling, message_of
from governance.channels.told import Told
from runtime.clock import Clock
from runtime.errors import LedgerUnavailable, SiliconError, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger
from runtime.settings.channels import ChannelSettings
from runtime.texts import Say

PAGE = 500
MOVED = 1_000
"""Events of other kinds after which the cursor is saved although there is nothing to tell."""
_log = logging.getLogger(__name__)


class Webhooks(Protocol):
    """What sends to webhooks."""

    async def send(self, delivery: Delivery, channel: Webhook, link: str, now: datetime) -> None:
        """Return once it was taken; raise NotDelivered."""
        ...


class Mails(Protocol):
    """What sends e-mail."""

    async def send(self, delivery: Delivery, channel: Mailbox, person: Person, link: str, now: datetime) -> None:
        """Return once it was taken; raise NotDelivered."""
        ...


class Organisations(Protocol):
    """What knows organisations by name."""

    async def told(self, organisation: Name) -> Told | None:
        """Return an organisation as its folder says now; None when it is not here."""
        ...


class SayIn(Protocol):
    """The catalogue in a language."""

    def __call__(self, language: str) -> Say:
        """Return it."""
        ...


class Courier:
    """One consumer of the ledger. Of several on one ledger only one should step at a time; more do no harm."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        settings: ChannelSettings,
        organisations: Organisations,
        *,
        webhooks: Webhooks,
        mails: Mails,
        say_in: SayIn,
        name: str = "channels",
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._settings = settings
        self._organisations = organisations
        self._webhooks = webhooks
        self._mails = mails
        self._say_in = say_in
        self.name = name
        """Of its cursor."""
        self._due: dict[str, datetime] = {}
        """Open delivery → when it is due, as it was last read."""
        self._seen = -1

    async def step(self) -> int:
        """Queue what happened since the last step, then send what is due; return how many were sent."""
        await self.collect()
        return await self.send()

    async def collect(self) -> None:
        """Queue a delivery for everybody who is to be told of what happened, in order, all of it.

        The first time ever there is nothing to tell: what happened before channels were looked after was not promised.
        """
        while True:
            after = await self._position()
            head = await self._ledger.head()
            events = await self._ledger.read_all(after=after, types=tuple(TELLERS), limit=PAGE)
            through = events[-1].position if len(events) == PAGE else max(head, after)
            deliveries = await self._deliveries(events)
            if deliveries or through - after >= MOVED or len(events) == PAGE:
                appends = [queued(each) for each in deliveries]
                try:
                    await self._ledger.append(*appends, cursors=[Cursor(self.name, through, after)])
                except VersionConflict:  # another process was quicker; what it did not queue is found again
                    self._seen = -1
                    return
                self._due.update({str(each.delivery_id): each.due_at for each in deliveries})
                self._seen = through
            if len(events) < PAGE:
                return

    async def send(self) -> int:
        """Try everything that is due, some at once; return how many were taken."""
        now = self._clock.now()
        there = await self._ledger.streams(DeliveryId.KIND, last_types=OPEN_TYPES)
        self._due = {stream: self._due[stream] for stream in there if stream in self._due}
        due = [stream for stream in there if self._due.get(stream, now) <= now]
        limit = asyncio.Semaphore(self._settings.at_once)

        async def one(stream: str) -> bool:
            async with limit:
                return await self._try(stream)

        async with asyncio.TaskGroup() as tasks:
            tried = [tasks.create_task(one(stream)) for stream in due]
        return sum(task.result() for task in tried)

    async def _position(self) -> int:
        if self._seen >= 0:
            return self._seen
        saved = await kept_cursor(self._ledger, self.name)
        if saved is not None:
            self._seen = saved.position
        else:
            self._seen = await self._ledger.head()
            with suppress(VersionConflict):
                await self._ledger.append(cursors=[Cursor(self.name, self._seen, 0)])
        return self._seen

    async def _deliveries(self, events: Sequence[Event]) -> list[Delivery]:
        found: dict[DeliveryId, Delivery] = {}
        for event in events:
            told = await self._organisations.told(event.organisation)
            if told is None or not told.channels:
                continue
            try:
                telling = Telling(
                    self._ledger, self._clock, told.people, self._say_in(told.language), told.language, told.zone
                )
                message = await message_of(telling, event)
            except LedgerUnavailable:  # the cursor stays where it is
                raise
            except (SiliconError, LookupError, TypeError, ValueError):  # a record that cannot be read hinders no other
                _log.exception("nobody can be told of %s at position %d", event.subject, event.position)
                continue
            if message is not None:
                found |= {each.delivery_id: each for each in self._for_everybody(message, event, told)}
        known = {event.subject for event in await self._ledger.read_newest(*found)} if found else set()
        return [delivery for id_, delivery in found.items() if id_ not in known]

    def _for_everybody(self, message: Message, event: Event, told: Told) -> list[Delivery]:
        made: list[Delivery] = []
        people = {person.id: person for name in message.to for person in told.people.members(name)}
        for person in people.values():
            if person.id in message.unless or not _may_look(told.people, person, message):
                continue
            channels = dict.fromkeys(each.by for each in person.notify if each.covers(message.severity))
            made += [self._one(message, event.organisation, person, channel, told) for channel in channels]
        return made

    def _one(self, message: Message, organisation: Name, person: Person, channel: Name, told: Told) -> Delivery:
        now = self._clock.now()
        due = now if person.quiet is None else person.quiet.until(now, message.severity, told.zone)
        return Delivery(
            delivery_id=DeliveryId.under(organisation, message.key, person.id, channel),
            organisation=organisation,
            person=person.id,
            channel=channel,
            what=message.what,
            about=message.about,
            severity=message.severity,
            title=message.title,
            text=message.text,
            queued_at=now,
            due_at=due,
        )

    async def _try(self, stream: str) -> bool:
        try:
            delivery = fold_delivery(await self._ledger.read(stream))
        except LedgerUnavailable:  # read again with the next step
            return False
        except SiliconError:
            _log.exception("%s cannot be read; it is not sent", stream)
            self._due[stream] = datetime.max.replace(tzinfo=self._clock.now().tzinfo)
            return False
        now = self._clock.now()
        if delivery.due_at > now:
            self._due[stream] = delivery.due_at
            return False
        told = await self._organisations.told(delivery.organisation)
        if told is None:
            self._due[stream] = now + timedelta(seconds=self._settings.retry_most_s)
            return False
        try:
            type_, facts = await self._sent(delivery, told, now)
            await self._ledger.append(happened(delivery, type_, **facts))
        except VersionConflict:  # another process had it in hand
            self._due.pop(stream, None)
            return False
        self._due[stream] = datetime.fromisoformat(str(facts["next_at"])) if "next_at" in facts else now
        return type_ == SENT

    async def _sent(self, delivery: Delivery, told: Told, now: datetime) -> tuple[str, dict[str, object]]:
        """Send it and return what happened to it."""
        person, channel = told.people.get(delivery.person), told.channels.get(delivery.channel)
        if person is None or channel is None or delivery.channel not in {each.by for each in person.notify}:
            return DROPPED, {"why": f"{delivery.person} is not told by {delivery.channel} any more."}
        link = self._link(delivery)
        attempt = delivery.attempts + 1
        try:
            if isinstance(channel, Webhook):
                await self._webhooks.send(delivery, channel, link, now)
            else:
                await self._mails.send(delivery, channel, person, link, now)
        except NotDelivered as error:
            _log.info("%s did not arrive by %s: %s", delivery.delivery_id, channel.name, error)
            facts: dict[str, object] = {"why": error.message, "attempt": attempt}
            if isinstance(error, NeverTaken) or attempt >= self._settings.attempts:
                _log.warning("%s is given up after %d tries: %s", delivery.delivery_id, attempt, error)
                return DEAD, facts
            return FAILED, {**facts, "next_at": (self._clock.now() + self._backoff(attempt)).isoformat()}
        return SENT, {"attempt": attempt}

    def _backoff(self, attempt: int) -> timedelta:
        settings = self._settings
        return timedelta(seconds=min(settings.retry_first_s * 2 ** (attempt - 1), settings.retry_most_s))

    def _link(self, delivery: Delivery) -> str:
        """Return where what it is about can be looked at; whoever follows it has to log in, and decides nothing."""
        base = self._settings.link_base.rstrip("/")
        kind, _, ulid = delivery.about.partition("/")
        return f"{base}/api/v1/approvals/{ulid}" if base and kind == CardId.KIND else ""


def _may_look(people: People, person: Person, message: Message) -> bool:
    """Whether a person may look at what is told; a card of another department is not told to them either."""
    return bool(person.any_roles) and all(people.sees(person, place) for place in message.places)
