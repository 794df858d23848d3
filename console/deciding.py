"""Cards and questions: what people are asked, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from pydantic import ValidationError

from console.resources import Resources
from console.standing import card_standing, with_person
from console.system_user import system_user
from console.typed import refused
from console.views import CardStanding
from contracts import CardId, ExecutionId, Id, Json, Question, QuestionId
from governance.access import People
from governance.approvals import ApprovalGateway, CardView, fold_card
from governance.approvals.card import option_of
from governance.approvals.delegations import Delegations
from governance.approvals.effect_cards import HAPPENED
from governance.errors import CardClosed, IllegalTransition
from runtime.errors import NotFound


class Deciding:
    """What a person does with cards and questions, whatever organisation they are of."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def judge_deadlines(self) -> None:
        """Let every deadline that has passed have its effect; without a server, each command does it."""
        await (await self._resources.asked()).judge_deadlines()

    async def cards(
        self, *, all_: bool, organisation: str | None = None, after: CardId | None = None, limit: int | None = None
    ) -> Sequence[CardStanding]:
        """Return open cards, the nearest deadline first, or with `all_` all cards, newest first; see the port."""
        index = await self._resources.card_index()
        if all_:
            listed = await index.newest(organisation=organisation, before=after, limit=limit)
        else:
            last = None if after is None else await self.find(after)
            listed = await index.waiting(organisation=organisation, after=last, limit=limit)
        shown: list[CardStanding] = []
        for card_id in listed:
            with suppress(NotFound, IllegalTransition):  # pruned since it was listed, or erased in part
                view = await self.find(card_id)
                if all_ or view.is_open:
                    shown.append(await self.standing(view))
        return shown

    async def card(self, card_id: CardId) -> CardStanding:
        """Return one card; raise NotFound when there is none."""
        return await self.standing(await self.find(card_id))

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        """Return when this person may decide the card; see the port."""
        view = await self.find(card_id)
        await self._ready(view.card.execution_id)
        gateway = await self.gateway_of(view)
        await gateway.check_right(view, gateway.people.acting(by, system_user()))

    async def gateway_of(self, view: CardView) -> ApprovalGateway:
        """Return the gateway of the card's organisation, with its people as they stand now."""
        people = await self._people(view.card.execution_id)
        return ApprovalGateway(await self._resources.store(), self._resources.clock, people, view.card.organisation)

    async def decide(
        self,
        card_id: CardId,
        *,
        option: str | None,
        reason: str,
        by: str | None,
        output: Mapping[str, Json] | None = None,
        via: str | None = None,
        shown_sha256: str | None = None,
    ) -> CardStanding:
        """Write a decision; see the port."""
        view = await self.find(card_id)
        await self._require_true(view, option)
        gateway = await self.gateway_of(view)
        try:
            decided = await gateway.decide(
                card_id,
                person=gateway.people.acting(by, system_user()),
                approve=option is not None,
                option=option,
                reason=reason,
                via=via or from_here(),
                shown_sha256=shown_sha256 or view.card_sha256,
                output=None if output is None else dict(output),
            )
        except ValidationError as error:
            raise refused(error, {"reason": "The reason"}) from None
        return await self.standing(decided)

    async def questions(self, *, organisation: str | None = None) -> Sequence[Question]:
        """Return open questions, of one organisation or of all, oldest first."""
        executor, desk = await self._resources.executor(), await self._resources.questions()
        asked = []
        for question in await desk.open_questions():
            with suppress(NotFound):  # its execution was pruned since it was listed
                view = await executor.view(question.execution_id)
                if organisation in (None, view.request.organisation):
                    asked.append(with_person(question, await self._resources.people_to_show(view)))
        return asked

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        """Write the answer and return the execution that waits for it; see the port."""
        desk = await self._resources.questions()
        question = await desk.get(question_id)
        view = await (await self._resources.executor()).view(question.execution_id)
        people = await self._resources.people_of(view)
        place = people.departments.place_of(view.request.skill)
        await desk.answer(question_id, value, person=people.acting(by, system_user()), people=people, place=place)
        return question.execution_id

    async def execution_of(self, named: Id) -> ExecutionId:
        """Return the execution that an order, card or question belongs to; raise NotFound when there is none."""
        store = await self._resources.store()
        for event in await store.ledger.read(named):
            if event.execution_id is not None:
                return event.execution_id
        raise NotFound(f"There is no {named}.", id=str(named))

    async def standing(self, view: CardView) -> CardStanding:
        """Return the card as faces show it, with who may decide it as things stand now."""
        executor = await self._resources.executor()
        execution = await executor.view(view.card.execution_id)
        people = await self._resources.people_to_show(execution)
        store, clock = await self._resources.store(), self._resources.clock
        delegations = await Delegations(store.ledger, clock, view.card.organisation).all()
        return card_standing(view, people, delegations, clock.now())

    async def _require_true(self, view: CardView, option: str | None) -> None:
        """Return when what the option promises can follow: of cancelled work nothing is done again.

        Its open card gives way to one that says so as soon as somebody works on the execution; until then, and where
        the execution was stopped before that, a person is told.
        """
        execution = await (await self._resources.executor()).view(view.card.execution_id)
        chosen = option_of(view.card, option)
        if execution.cancel_requested_by is None or not view.is_open or chosen is None:
            return
        over = execution.report is not None
        if chosen.actions or (over and chosen.id == HAPPENED):
            then = "nothing is taken back any more either; do that by hand" if over else "another card takes its place"
            raise CardClosed(
                f"{execution.execution_id} was cancelled: {chosen.id} on {view.card.card_id} would not be carried out, "
                f"and {then}. Nothing was changed.",
                card=view.card.card_id,
                execution_id=execution.execution_id,
            )

    async def _ready(self, execution_id: ExecutionId) -> None:
        """Return when what is decided can be carried out; raise why not, before anything is written."""
        execution = await (await self._resources.executor()).view(execution_id)
        organisations = await self._resources.organisations()
        await organisations.pinned(execution.organisation_sha256, execution.home)

    async def _people(self, execution_id: ExecutionId) -> People:
        executor = await self._resources.executor()
        return await self._resources.people_of(await executor.view(execution_id))

    async def find(self, stream: str) -> CardView:
        """Return how a card stands; raise NotFound when there is none."""
        store = await self._resources.store()
        events = await store.ledger.read(stream)
        if not events:
            raise NotFound(f"There is no {stream}. `silicon approvals list` shows those that there are.", id=stream)
        return fold_card(events)


def from_here() -> str:
    """Return from where a decision of the command line comes."""
    return f"cli by {system_user()}"
