"""Cards edited, decided together, taken back and reviewed; and who decides whose cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from console.deciding import Deciding, from_here
from console.ports_approvals import BulkDecided, Taken
from console.resources import Resources
from console.running import Running
from console.seeing import Seeing
from console.system_user import system_user
from console.views import CardStanding
from contracts import (
    CardId,
    Delegation,
    DelegationId,
    ExecutionId,
    ExecutionRequest,
    Json,
    Parameter,
    PlanDefinition,
    Step,
    ValueType,
)
from governance.access import People
from governance.approvals import CardView
from governance.approvals.afterwards import ask_back, review
from governance.approvals.bulk import require_same_kind
from governance.approvals.delegations import Delegations
from governance.approvals.editing import edit
from governance.approvals.sampling import is_sampled
from governance.errors import IllegalTransition
from runtime.errors import InvalidArguments, NotFound, SiliconError
from runtime.model.naming import names_in

_LOOKED_AT = 1_000
"""Cards that passed by themselves among which a sample is looked for at once."""


class Approving:
    """What people do with cards beside deciding one; for a class that has these three already."""

    _resources: Resources
    _deciding: Deciding
    _seeing: Seeing

    async def edit_card(
        self, card_id: CardId, *, option: str, changes: Sequence[Mapping[str, Json] | None], by: str | None,
        reason: str = "", via: str | None = None,
    ) -> CardStanding:  # fmt: skip
        """Give the actions of an option other arguments; see the port."""
        view = await self._deciding.find(card_id)
        gateway = await self._deciding.gateway_of(view)
        execution = await (await self._resources.executor()).view(view.card.execution_id)
        organisations = await self._resources.organisations()
        async with organisations.using(execution.organisation_sha256, execution.home) as wired:
            edited = await edit(
                gateway, card_id, changes, option=option, person=gateway.people.acting(by, system_user()),
                specs=wired.registry.specs(), policies=wired.policies.book(), via=via or from_here(), reason=reason,
            )  # fmt: skip
        return await self._deciding.standing(edited)

    async def decide_many(
        self, cards: Sequence[CardId], *, option: str | None, reason: str, by: str | None, via: str | None = None
    ) -> Sequence[BulkDecided]:
        """Decide cards of one kind alike; see the port."""
        wanted, most = list(dict.fromkeys(cards)), self._resources.settings.approval.bulk_most
        if not 1 <= len(wanted) <= most:
            raise InvalidArguments(f"Name 1 to {most} cards (approval.bulk_most), not {len(wanted)}.", most=most)
        views = [await self._deciding.find(each) for each in wanted]
        require_same_kind(views, option)
        decided: list[BulkDecided] = []
        for view in views:
            card_id = view.card.card_id
            try:
                standing = await self._deciding.decide(
                    card_id, option=option, reason=reason, by=by, via=via, shown_sha256=view.card_sha256
                )
            except SiliconError as error:
                decided.append(BulkDecided(card_id, code=error.code, message=error.message))
            else:
                decided.append(BulkDecided(card_id, standing))
        return decided

    async def undo_card(
        self, card_id: CardId, *, by: str | None, reason: str = "", via: str | None = None
    ) -> Taken:  # fmt: skip
        """Have what a card brought about taken back; see the port.

        It works with the organisation that the card's execution pinned, so with the very capabilities that were shown.
        The person's word is recorded first, then the execution under a key of the card: said twice, or again after a
        crash in between, it is the same execution.
        """
        view = await self._deciding.find(card_id)
        gateway = await self._deciding.gateway_of(view)
        person = gateway.people.acting(by, system_user())
        execution = await (await self._resources.executor()).view(view.card.execution_id)
        organisations = await self._resources.organisations()
        async with organisations.using(execution.organisation_sha256, execution.home) as wired:
            rule = wired.organisation.approvals.get(view.card.policy)
            within_s = self._resources.settings.approval.undo_s if rule is None else rule.undo_within_s
            models = names_in(self._resources.settings.model, wired.organisation.models)
        asked = await ask_back(
            gateway, card_id, person=person, within_s=within_s, via=via or from_here(), reason=reason
        )  # fmt: skip
        assert asked.chosen is not None and asked.back is not None, "only what was carried out is asked back"
        request = _taking_back(asked, execution.request.language)
        submitted = await (await self._resources.executor()).submit(
            request, execution.organisation_sha256, execution.home, models=models
        )
        return Taken(await self._deciding.standing(asked), submitted.execution_id)

    async def review_card(
        self, card_id: CardId, *, right: bool, by: str | None, reason: str = "", via: str | None = None
    ) -> CardStanding:
        """Say whether what was approved was right; see the port."""
        gateway = await self._deciding.gateway_of(await self._deciding.find(card_id))
        person = gateway.people.acting(by, system_user())
        view = await review(gateway, card_id, person=person, right=right, via=via or from_here(), reason=reason)
        return await self._deciding.standing(view)

    async def to_review(self, *, organisation: str | None = None, limit: int = 50) -> Sequence[CardStanding]:
        """Return the sample that nobody reviewed yet; see the port."""
        await self._deciding.judge_deadlines()
        index, share = await self._resources.card_index(), self._resources.settings.approval.review_share
        listed = await index.unreviewed(organisation=organisation, limit=_LOOKED_AT)
        found: list[CardStanding] = []
        for card_id in listed:
            if len(found) < limit and is_sampled(card_id, share):
                with suppress(NotFound, IllegalTransition):
                    standing = await self._deciding.standing(await self._deciding.find(card_id))
                    if await self._seeing.sees_card(standing.card):
                        found.append(standing)
        return found

    async def delegations(self, organisation: str) -> Sequence[Delegation]:
        """Return what was ever delegated; see the port."""
        store = await self._resources.store()
        return await Delegations(store.ledger, self._resources.clock, organisation).all()

    async def delegate(
        self, organisation: str, *, giver: str | None, taker: str, starts: str | None, ends: str,
        policies: Sequence[str] = (), by: str | None, reason: str = "", via: str | None = None,
    ) -> Delegation:  # fmt: skip
        """Record that somebody may decide another one's cards for a while; see the port."""
        people, zone, rules = await self._people_of(organisation)
        person, store = people.acting(by, system_user()), await self._resources.store()
        unknown = [name for name in policies if name not in rules]
        if unknown:
            raise InvalidArguments(
                f"There is no approval rule {unknown[0]} in {organisation}; there is: {', '.join(rules)}.",
                rule=unknown[0],
            )  # fmt: skip
        now = self._resources.clock.now()
        return await Delegations(store.ledger, self._resources.clock, organisation).make(
            people, giver=giver or person.id, taker=taker, policies=policies, by=person, reason=reason,
            starts_at=now if starts is None else moment_of(starts, zone), ends_at=moment_of(ends, zone, end=True),
            via=via or from_here(),
        )  # fmt: skip

    async def end_delegation(
        self, organisation: str, delegation_id: DelegationId, *, by: str | None, via: str | None = None
    ) -> Delegation:
        """End a delegation before its time; see the port."""
        people, _, _ = await self._people_of(organisation)
        store = await self._resources.store()
        delegations = Delegations(store.ledger, self._resources.clock, organisation)
        return await delegations.end(
            delegation_id, people, by=people.acting(by, system_user()), via=via or from_here()
        )  # fmt: skip

    async def only_organisation(self) -> str:
        """Return the organisation of this ledger, where there is one; see the port."""
        executor, store = await self._resources.executor(), await self._resources.store()
        newest = await store.ledger.newest_streams("execution", limit=_LOOKED_AT)
        views = await executor.views([ExecutionId(each) for each in newest])
        names = sorted({view.request.organisation for view in views})
        if not names:
            raise NotFound("Nothing was ever run here, so that there is no organisation to choose.")
        if len(names) > 1:
            listed = ", ".join(names)
            raise InvalidArguments(
                f"Several organisations were run here: {listed}. Say which one (--organisation).", names=[*names]
            )
        return names[0]

    async def rebuild_cards(self) -> int:
        """Make the table of cards again from their events; see the port."""
        return await (await self._resources.card_index()).rebuild()

    async def _people_of(self, organisation: str) -> tuple[People, ZoneInfo, Sequence[str]]:
        """Return the people of now, time zone and approval rules of an organisation."""
        home = await Running(self._resources).home_of(organisation)
        loaded, _ = await (await self._resources.organisations()).current(home)
        return self._resources.people_in(home), ZoneInfo(loaded.time_zone), list(loaded.approvals)


def _taking_back(view: CardView, language: str) -> ExecutionRequest:
    """Return the request for what takes back what the card brought about, last done first, under its approval."""
    option, card = view.chosen, view.card
    assert option is not None and view.back is not None
    undo: dict[str, Json] = {
        "card": str(card.card_id), "actions": [action.to_json() for action in option.undo],
    }  # fmt: skip
    plan = PlanDefinition(
        parameters={"undo": Parameter(type=ValueType.OBJECT, description="The card, and what takes it back.")},
        steps=(Step(id="take_back", for_each="{{ undo.actions }}", order="{{ item }}"),),
    )
    return ExecutionRequest(
        organisation=card.organisation, goal=f"Take back {option.id} of {card.card_id}", plan=plan,
        parameters={"undo": undo}, requested_by=view.back.by, language=language,
        idempotency_key=f"undo/{card.card_id}",
    )  # fmt: skip


def moment_of(text: str, zone: ZoneInfo, *, end: bool = False) -> datetime:
    """Return the moment that a day or a local time stands for; of a day its beginning, or with `end` its end.

    Raises:
        InvalidArguments: it is neither.
    """
    try:
        if len(text) == len("2026-12-24"):
            day = date.fromisoformat(text) + timedelta(days=1 if end else 0)
            return datetime.combine(day, time(), tzinfo=zone)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArguments(
            f"{text!r} is no day such as 2026-12-24 and no local time such as 2026-12-24T18:00.", given=text
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
