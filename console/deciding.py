"""Cards and questions: what people are asked, and what they say."""

from __future__ import annotations

import getpass
from collections.abc import Sequence

from pydantic import ValidationError

from console.resources import Resources
from console.standing import card_standing, with_person
from console.typed import refused
from console.views import CardStanding
from contracts import CardId, CardKind, ExecutionId, Id, Question, QuestionId
from governance.access import People
from governance.approvals import ApprovalGateway, CardView, fold_card
from runtime.errors import NotFound


class Deciding:
    """What a person does with cards and questions, whatever organisation they are of."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def judge_deadlines(self) -> None:
        """Let every deadline that has passed have its effect; without a server, each command does it."""
        store = await self._resources.store()
        names = {(await self._card(stream)).card.organisation for stream in await self._open_streams()}
        for name in sorted(names):
            gateway = ApprovalGateway(store, self._resources.clock, People(()), name)
            await gateway.judge_deadlines(self._resources.clock.now())

    async def cards(self, *, all_: bool) -> Sequence[CardStanding]:
        """Return open cards, the nearest deadline first; with `all_` closed ones too."""
        store = await self._resources.store()
        streams = await store.ledger.streams("card") if all_ else await self._open_streams()
        views = [await self._card(stream) for stream in streams]
        shown = sorted(
            (view for view in views if all_ or view.is_open), key=lambda view: (not view.is_open, view.deadline)
        )
        return [await self._standing(view) for view in shown]

    async def card(self, card_id: CardId) -> CardStanding:
        """Return one card; raise NotFound when there is none."""
        return await self._standing(await self._card(card_id))

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        """Return when this person may decide the card; see the port."""
        view = await self._card(card_id)
        await self._ready(view.card.execution_id)
        people = await self._people(view.card.execution_id)
        gateway = ApprovalGateway(await self._resources.store(), self._resources.clock, people, view.card.organisation)
        gateway.check_right(view, people.acting(by, getpass.getuser()))

    async def decide(self, card_id: CardId, *, option: str | None, reason: str, by: str | None) -> CardStanding:
        """Write a decision; see the port."""
        view = await self._card(card_id)
        people = await self._people(view.card.execution_id)
        gateway = ApprovalGateway(await self._resources.store(), self._resources.clock, people, view.card.organisation)
        try:
            decided = await gateway.decide(
                card_id,
                person=people.acting(by, getpass.getuser()),
                approve=option is not None,
                option=option,
                reason=reason,
                via=f"cli by {getpass.getuser()}",
                shown_sha256=view.card_sha256,
            )
        except ValidationError as error:
            raise refused(error, {"reason": "--reason"}) from None
        return await self._standing(decided)

    async def withdraw(self, execution_id: ExecutionId, reason: str) -> None:
        """Take back every open card of an execution that will not go on.

        A card in doubt stays: whether an effect happened still has to be found out.
        """
        store = await self._resources.store()
        for stream in await self._open_streams():
            view = await self._card(stream)
            if view.is_open and view.card.execution_id == execution_id and view.card.kind is not CardKind.IN_DOUBT:
                gateway = ApprovalGateway(store, self._resources.clock, People(()), view.card.organisation)
                await gateway.withdraw(view.card.card_id, reason)

    async def questions(self) -> Sequence[Question]:
        """Return open questions, oldest first."""
        executor, desk = await self._resources.executor(), await self._resources.questions()
        return [
            with_person(each, await self._resources.people_to_show(await executor.view(each.execution_id)))
            for each in await desk.open_questions()
        ]

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        """Write the answer and return the execution that waits for it; see the port."""
        desk = await self._resources.questions()
        question = await desk.get(question_id)
        people = await self._people(question.execution_id)
        await desk.answer(question_id, value, person=people.acting(by, getpass.getuser()), people=people)
        return question.execution_id

    async def execution_of(self, named: Id) -> ExecutionId:
        """Return the execution that an order, card or question belongs to; raise NotFound when there is none."""
        store = await self._resources.store()
        for event in await store.ledger.read(named):
            if event.execution_id is not None:
                return event.execution_id
        raise NotFound(f"There is no {named}.", id=str(named))

    async def _standing(self, view: CardView) -> CardStanding:
        executor = await self._resources.executor()
        execution = await executor.view(view.card.execution_id)
        return card_standing(view, await self._resources.people_to_show(execution))

    async def _ready(self, execution_id: ExecutionId) -> None:
        """Return when what is decided can be carried out; raise why not, before anything is written."""
        execution = await (await self._resources.executor()).view(execution_id)
        organisations = await self._resources.organisations()
        await organisations.pinned(execution.organisation_sha256, execution.home)

    async def _people(self, execution_id: ExecutionId) -> People:
        executor = await self._resources.executor()
        return await self._resources.people_of(await executor.view(execution_id))

    async def _card(self, stream: str) -> CardView:
        store = await self._resources.store()
        events = await store.ledger.read(stream)
        if not events:
            raise NotFound(f"There is no {stream}. `silicon approvals list` shows those that there are.", id=stream)
        return fold_card(events)

    async def _open_streams(self) -> Sequence[str]:
        store = await self._resources.store()
        return await store.ledger.streams("card", last_types=("card.raised", "card.decided", "card.escalated"))
