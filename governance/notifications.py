"""`notify`: a message to people of the organisation, told once under its key, and the messages there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches

from contracts import Effect, Event, Json, Notification, NotificationId, Parameter, Tier, ValueType
from governance.access import People
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.errors import InvalidArguments
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.telemetry.redaction import redact

SENT = "notification.sent"
LONGEST = 2_000
"""Characters of a message; what is longer is a report."""

SPEC = CapabilitySpec(
    name="notify",
    kind="builtin_tool",
    description="Tell a person or group of the organisation something that they need not answer.",
    parameters={
        "to": Parameter(type=ValueType.STRING, description="A person or group, by id.", example="duty-managers"),
        "text": Parameter(
            type=ValueType.STRING, description=f"The message, at most {LONGEST:,} characters.", example="It is done."
        ),
        "key": Parameter(
            type=ValueType.STRING,
            description="What is told under a key is told once in the organisation; absent, each call counts.",
            example="delays-2013-02-08",
            required=False,
        ),
    },
    gives={"notification": "string", "to": "array", "new": "boolean"},
    effect=Effect.IDEMPOTENT,
    tier=Tier.COGNITIVE,
    any_tier=True,
    every_call=True,
)


class Notify:
    """`notify`. The message is in the commit that finishes its step, so a crash neither loses nor repeats it."""

    spec = SPEC

    def __init__(self, ledger: Ledger, people: People) -> None:
        self._ledger = ledger
        self._people = people

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the message, and whether it is told now or was under its key.

        Raises:
            InvalidArguments: nobody is called that, or there is nothing or too much to say.
        """
        order, key = context.order, str(arguments.get("key") or "")
        told = NotificationId.under(order.organisation, key or context.key)
        before = await self._ledger.read(told)
        if before:
            known = read_notification(before[0])
            to = list(known.to) if known is not None else []
            return CallResult({"notification": told, "to": to, "new": False})
        message = Notification(
            notification_id=told, execution_id=order.execution_id, order_id=order.order_id, step=context.step,
            organisation=order.organisation, employee=order.employee, to=self._recipients(str(arguments["to"])),
            text=_text(str(arguments["text"])), key=key or context.key, sent_at=context.now,
        )  # fmt: skip
        append = Append(
            told, [NewEvent(SENT, {"notification": message.to_json()})], 0, order.organisation,
            f"/organisation/{order.organisation}/employee/{order.employee}", order.execution_id, order.trace_id,
        )  # fmt: skip
        return CallResult({"notification": told, "to": list(message.to), "new": True}, appends=(append,))

    def _recipients(self, name: str) -> tuple[str, ...]:
        members = self._people.members(name)
        if not members:
            known = recipients(self._people)
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(known) or 'nobody'}."
            raise InvalidArguments(f"No person or group is called {name!r}. {hint}", to=name, happened="no")
        return tuple(person.id for person in members)


def recipients(people: People) -> list[str]:
    """Return everybody who can be told something, people before groups."""
    groups = {group for person in people for group in person.groups}
    return [*(person.id for person in people), *sorted(groups)]


Sees = Callable[[Notification], Awaitable[bool]]


async def notifications(
    ledger: Ledger, *, organisation: str | None, person: str | None, limit: int, sees: Sees | None = None
) -> list[Notification]:
    """Return messages, newest first: those of one organisation, or to one person, where that is asked for.

    `sees` tells which of them may be seen by whoever looks; absent means all.
    """
    found: list[Notification] = []
    before = None
    while len(found) < limit:
        listed = await ledger.newest_streams(NotificationId.KIND, organisation=organisation, before=before, limit=limit)
        if not listed:
            break
        for stream in listed:
            events = await ledger.read(stream)
            message = read_notification(events[0]) if events else None  # it may have been pruned since
            if message is None or (person is not None and person not in message.to):
                continue
            if sees is None or await sees(message):
                found.append(message)
        before = listed[-1]
    return found[:limit]


def read_notification(event: Event) -> Notification | None:
    """Return the message of an event, None where it was erased."""
    return None if event.data is None else Notification.read(event.data["notification"])  # type: ignore[arg-type]


def _text(text: str) -> str:
    said = str(redact(text)).strip()
    if not said or len(said) > LONGEST:
        raise InvalidArguments(
            f"A message has 1 to {LONGEST:,} characters, and this one {len(said):,}. Tell the rest in a report.",
            happened="no",
        )  # fmt: skip
    return said
