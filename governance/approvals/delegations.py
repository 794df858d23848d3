"""Who may decide whose cards for a while: recorded, with dates, in one stream of the organisation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from contracts import Delegation, DelegationId, Name
from governance.access.people import People, Person, Role
from governance.errors import NotAllowedToDecide
from runtime.canonical import clean
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

MADE, ENDED = "delegation.made", "delegation.ended"
_TRIES = 20


class Delegations:
    """The delegations of one organisation."""

    def __init__(self, ledger: Ledger, clock: Clock, organisation: Name) -> None:
        self._ledger = ledger
        self._clock = clock
        self._organisation = organisation
        self._stream = f"delegations/{organisation}"
        self._known: tuple[int, tuple[Delegation, ...]] = (0, ())

    async def all(self) -> Sequence[Delegation]:
        """Return all that were ever recorded, oldest first."""
        version, known = self._known
        folded = {each.delegation_id: each for each in known}
        for event in await self._ledger.read(self._stream, after_version=version):
            version = event.stream_version
            if event.data is None:
                continue
            if event.type == MADE:
                made = Delegation.read(event.data["delegation"])  # type: ignore[arg-type]
                folded[made.delegation_id] = made
            else:
                ended = DelegationId(str(event.data["delegation_id"]))
                folded[ended] = folded[ended].model_copy(update={"ended_at": event.time})
        self._known = version, tuple(folded.values())
        return self._known[1]

    async def holding(self, now: datetime) -> Sequence[Delegation]:
        """Return those that hold now for some card."""
        return [each for each in await self.all() if any(each.holds(now, rule) for rule in (*each.policies, ""))]

    async def make(
        self, people: People, *, giver: str, taker: str, starts_at: datetime, ends_at: datetime,
        policies: Sequence[str] = (), by: Person, via: str, reason: str = "",
    ) -> Delegation:  # fmt: skip
        """Record that `taker` may decide the cards of `giver` in that time.

        Raises:
            NotAllowedToDecide: somebody else than the giver or an administrator records it, or an administrator gives
                another's cards to themselves.
            InvalidArguments: one of the two is not there, or the times make no sense.
        """
        for name in (giver, taker):
            if people.get(name) is None:
                listed = ", ".join(person.id for person in people)
                raise InvalidArguments(f"Nobody here is called {name}. There is: {listed}.", name=name)
        self._require_right(people, giver, by)
        if taker == by.id != giver:
            raise NotAllowedToDecide(
                f"{by.name} cannot take the cards of {giver}: {giver} can give them, or another administrator can.",
                person=by.id,
            )
        now = self._clock.now()
        if ends_at <= max(starts_at, now) or giver == taker:
            raise InvalidArguments(
                f"A delegation goes from one person to another and ends after it starts, and after now; this one is "
                f"from {giver} to {taker}, {starts_at:%Y-%m-%d %H:%M} to {ends_at:%Y-%m-%d %H:%M} UTC.",
                giver=giver, taker=taker,
            )  # fmt: skip
        delegation = Delegation(
            delegation_id=DelegationId.new(), organisation=self._organisation, giver=giver, taker=taker,
            policies=tuple(policies), starts_at=starts_at, ends_at=ends_at, by=by.id, at=now, via=via, reason=reason,
        )  # fmt: skip
        await self._append(NewEvent(MADE, {"delegation": delegation.to_json()}))
        return delegation

    async def end(self, delegation_id: DelegationId, people: People, *, by: Person, via: str) -> Delegation:
        """End one before its time; one that is over stays as it is.

        Raises:
            NotFound: there is none of that id.
            NotAllowedToDecide: as `make`; whoever took it may give it back.
        """
        found = {each.delegation_id: each for each in await self.all()}.get(delegation_id)
        if found is None:
            raise NotFound(f"There is no {delegation_id} in {self._organisation}.", id=delegation_id)
        if by.id != found.taker:
            self._require_right(people, found.giver, by)
        if found.ended_at is None and self._clock.now() < found.ends_at:
            await self._append(NewEvent(ENDED, {"delegation_id": delegation_id, "by": by.id, "via": via}))
        return next(each for each in await self.all() if each.delegation_id == delegation_id)

    def _require_right(self, people: People, giver: str, by: Person) -> None:
        now = people.get(by.id)
        if now is None or (now.id != giver and Role.ADMIN not in now.roles):
            raise NotAllowedToDecide(
                f"{by.name} cannot delegate the cards of {giver}: only they or an administrator can.", person=by.id
            )

    async def _append(self, event: NewEvent) -> None:
        for _ in range(_TRIES):
            await self.all()
            data = {key: clean(value) for key, value in event.data.items()}
            source = f"/organisation/{self._organisation}/approvals"
            try:
                await self._ledger.append(
                    Append(self._stream, (NewEvent(event.type, data),), self._known[0], self._organisation, source)
                )
            except VersionConflict:
                continue
            return
        raise VersionConflict("Delegations are being recorded by too many at once; try again.", id=self._stream)
