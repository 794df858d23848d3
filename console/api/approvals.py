"""Decision cards: listed, shown, decided, edited, taken back, reviewed; and who decides whose.

Looking at a card changes nothing, whatever link led to it: deciding is a POST by an authenticated person.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, status

from console.api.asked_approvals import NewDecision, NewDecisions, NewDelegation, NewEdit, NewReview, NewUndo
from console.api.desk import Asking, AtDesk, Desk, query_of
from console.api.shown_approvals import (
    BeingUndone,
    CardDecided,
    CardList,
    CardsDecided,
    DelegationList,
    WholeCard,
)
from console.seeing import sees_card
from console.views import CardStanding
from contracts import CardId, Delegation, DelegationId, Name
from contracts.ids import ULID_PATTERN
from governance.access import Principal
from runtime.errors import InvalidArguments, NotFound

routes = APIRouter(prefix="/approvals", tags=["approvals"])
Ulid = Annotated[
    str,
    Path(
        alias="card",
        pattern=ULID_PATTERN,
        description="The card: the part of its id after the slash.",
        examples=["01JB0000000000000000000CRD"],
    ),
]
DelegationUlid = Annotated[
    str,
    Path(
        alias="delegation",
        pattern=ULID_PATTERN,
        description="The delegation: the part of its id after the slash.",
        examples=["01JB0000000000000000000DLG"],
    ),
]
_PAGES = 10
"""Pages of cards that one request looks at for those that may be seen."""


_REVIEWED = 200
"""Cards of the sample that are looked at, of which whoever asks may see some."""


@routes.get("", dependencies=[query_of("all", "organisation", "limit", "cursor")])
async def list_cards(
    desk: AtDesk,
    asking: Asking,
    *,
    all_: Annotated[bool, Query(alias="all", description="Closed ones too, newest first.")] = False,
    organisation: Annotated[Name | None, Query(description="Only those of this organisation.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 50,
    cursor: Annotated[str | None, Query(pattern=ULID_PATTERN, description="`next` of the page before.")] = None,
) -> CardList:
    """List the cards that wait for a decision, the nearest deadline first."""
    wanted = asking.organisation or organisation
    after = None if cursor is None else CardId(f"{CardId.KIND}/{cursor}")
    shown: list[CardStanding] = []
    for _ in range(_PAGES):
        page = await desk.application.cards(all_=all_, organisation=wanted, after=after, limit=limit + 1)
        for each in page[:limit]:
            if len(shown) < limit and await _in_sight(desk, asking, each):
                shown.append(each)
            after = each.card.card_id
            if len(shown) == limit:
                break
        more = len(page) > limit or (len(shown) == limit and bool(page) and page[-1].card.card_id != after)
        if len(shown) == limit or not more:
            break
    next_ = after.ulid if more and after is not None else None
    return CardList(cards=tuple(map(WholeCard.whole, shown)), next=next_)


@routes.get("/to-review", dependencies=[query_of("limit")])
async def list_cards_to_review(
    desk: AtDesk, asking: Asking, limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 50
) -> CardList:
    """List the sample of what passed by itself that nobody reviewed yet, oldest first."""
    found = await desk.application.to_review(organisation=asking.organisation, limit=_REVIEWED)
    seen = [each for each in found if await _in_sight(desk, asking, each)]
    return CardList(cards=tuple(map(WholeCard.whole, seen[:limit])))


@routes.get("/delegations", dependencies=[query_of("organisation")])
async def list_delegations(
    desk: AtDesk, asking: Asking, organisation: Annotated[Name | None, Query(description="Whose people.")] = None
) -> DelegationList:
    """List who may decide whose cards, oldest first."""
    wanted = _organisation(organisation, asking)
    return DelegationList(delegations=tuple(await desk.application.delegations(wanted)))


@routes.post("/delegations", status_code=status.HTTP_201_CREATED)
async def delegate(body: NewDelegation, desk: AtDesk, asking: Asking, request: Request) -> Delegation:
    """Let somebody decide another one's cards for a while: one's own, or anybody's as an administrator."""
    return await desk.application.delegate(
        _organisation(body.organisation, asking), giver=body.giver, taker=body.taker, starts=body.starts,
        ends=body.ends, policies=body.policies, reason=body.reason, by=asking.acts_as(body.as_),
        via=_via(request, asking),
    )  # fmt: skip


@routes.delete("/delegations/{delegation}", dependencies=[query_of("organisation")])
async def end_delegation(
    ulid: DelegationUlid,
    desk: AtDesk,
    asking: Asking,
    request: Request,
    organisation: Annotated[Name | None, Query(description="Whose people.")] = None,
) -> Delegation:
    """End a delegation before its time."""
    named = DelegationId(f"{DelegationId.KIND}/{ulid}")
    wanted = _organisation(organisation, asking)
    return await desk.application.end_delegation(
        wanted, named, by=asking.acts_as(None), via=_via(request, asking)
    )  # fmt: skip


@routes.post("/decisions")
async def decide_several(body: NewDecisions, desk: AtDesk, asking: Asking, request: Request) -> CardsDecided:
    """Decide several cards of one kind alike; what cannot be taken back is decided card by card."""
    cards = [_card_id(each) for each in body.cards]
    for card_id in cards:
        await _seen(desk, asking, card_id)
    option = _option(body.approve, body.option)
    decided = await desk.application.decide_many(
        cards, option=option, reason=body.reason, by=asking.acts_as(body.as_), via=_via(request, asking)
    )
    for each in decided:
        if each.standing is not None:
            desk.wake(each.standing.card.execution_id)
    return CardsDecided(decided=tuple(map(CardDecided.of, decided)))


@routes.get("/{card}")
async def show_card(ulid: Ulid, desk: AtDesk, asking: Asking) -> WholeCard:
    """Show one card; that decides nothing."""
    return WholeCard.whole(await _seen(desk, asking, _card_id(ulid)))


@routes.post("/{card}/decision")
async def decide(ulid: Ulid, body: NewDecision, desk: AtDesk, asking: Asking, request: Request) -> WholeCard:
    """Decide a card; the execution that waits for it goes on."""
    card_id = _card_id(ulid)
    await _seen(desk, asking, card_id)
    standing = await desk.application.decide(
        card_id, option=_option(body.approve, body.option), reason=body.reason, by=asking.acts_as(body.as_),
        output=body.output, via=_via(request, asking), shown_sha256=body.card_sha256,
    )  # fmt: skip
    desk.wake(standing.card.execution_id)
    return WholeCard.whole(standing)


@routes.post("/{card}/edits")
async def edit(ulid: Ulid, body: NewEdit, desk: AtDesk, asking: Asking, request: Request) -> WholeCard:
    """Give an option other arguments before it is decided; somebody else decides it then."""
    card_id = _card_id(ulid)
    await _seen(desk, asking, card_id)
    standing = await desk.application.edit_card(
        card_id, option=body.option, changes=body.changes, by=asking.acts_as(body.as_), reason=body.reason,
        via=_via(request, asking),
    )  # fmt: skip
    return WholeCard.whole(standing)


@routes.post("/{card}/undo", status_code=status.HTTP_202_ACCEPTED)
async def undo(ulid: Ulid, body: NewUndo, desk: AtDesk, asking: Asking, request: Request) -> BeingUndone:
    """Take back what a card brought about, while its time lasts; an execution of its own does it."""
    card_id = _card_id(ulid)
    await _seen(desk, asking, card_id)
    taken = await desk.application.undo_card(
        card_id, by=asking.acts_as(body.as_), reason=body.reason, via=_via(request, asking)
    )
    desk.wake(taken.execution_id)
    return BeingUndone(card=WholeCard.whole(taken.standing), execution_id=taken.execution_id)


@routes.post("/{card}/review")
async def review(ulid: Ulid, body: NewReview, desk: AtDesk, asking: Asking, request: Request) -> WholeCard:
    """Say whether what was approved was right; a serious error sets its kind of action back to strict."""
    card_id = _card_id(ulid)
    await _seen(desk, asking, card_id)
    standing = await desk.application.review_card(
        card_id, right=body.verdict == "right", by=asking.acts_as(body.as_), reason=body.reason,
        via=_via(request, asking),
    )  # fmt: skip
    return WholeCard.whole(standing)


def _card_id(ulid: str) -> CardId:
    return CardId(f"{CardId.KIND}/{ulid}")


def _option(approve: bool, option: str | None) -> str | None:
    """Return the option of a yes, None for a no; a yes without and a no with one are neither."""
    if approve is (option is None):
        raise InvalidArguments("A yes names its option; a no names none.", approve=approve, option=option)
    return option


def _organisation(named: Name | None, asking: Principal) -> Name:
    wanted = named or asking.organisation
    if wanted is None:
        raise InvalidArguments("The request names no organisation, and the token is an administrator's. Name one.")
    if not asking.may_see(wanted):
        raise NotFound(f"There is no organisation {wanted} here.", organisation=wanted)
    return wanted


def _via(request: Request, asking: Principal) -> str:
    """Return from where a decision comes: the address and the token."""
    host = request.client.host if request.client is not None else "nowhere"
    return f"api from {host} by {asking.id}"


async def _seen(desk: Desk, asking: Principal, card_id: CardId) -> CardStanding:
    """Return a card that the principal may see; for others it is not there, and never was."""
    standing = await desk.application.card(card_id)
    if not await _in_sight(desk, asking, standing):
        raise NotFound(f"There is no {card_id} here.", card=card_id)
    return standing


async def _in_sight(desk: Desk, asking: Principal, standing: CardStanding) -> bool:
    if not asking.may_see(standing.card.organisation):
        return False
    sight = desk.application.sight(asking)
    if sight.whole:
        return True
    known = await desk.skill_of(standing.card.execution_id)
    return known is not None and sees_card(sight, standing.card, known[1])
