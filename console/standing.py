"""How executions and cards stand, read from the ledger in the form in which faces show them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TypeAlias

from console.told import Told, all_told
from console.views import CardStanding, CardState, ExecutionOutcome, Found, Product
from contracts import DataProduct, Delegation, OrderState, Question, QuestionId
from governance.access import People
from governance.approvals import CardView, fold_card
from governance.approvals.rights import Right, right_to_decide
from governance.questions import QuestionDesk
from runtime.errors import BlobDamaged, LedgerUnavailable, NotFound
from runtime.executor import ExecutionState, ExecutionView
from runtime.ledger.port import Store

_ASKING = (OrderState.WAITING, OrderState.FAILED, OrderState.CANCELLED)
"""States in which cards of an execution may still be open."""

_STATES = {
    ExecutionState.WAITING: OrderState.WAITING,
}


PeopleOf: TypeAlias = Callable[[ExecutionView], Awaitable[People]]
"""Gives the people of an execution's organisation as they stand now."""


async def outcome_of(
    store: Store,
    view: ExecutionView,
    questions: QuestionDesk,
    *,
    home: Path,
    people: PeopleOf,
    repeated: bool = False,
    told: Told | None = None,
) -> ExecutionOutcome:
    """Return how the execution stands; the files of its products are written below `home/products`.

    `told` is what the events of the execution tell, where that was read before.
    """
    told = told or await all_told(store, view)
    report = view.report
    state = report.state if report else _STATES.get(view.stood or view.state, OrderState.RUNNING)
    asked = [QuestionId(each) for each in view.waiting_for if each.startswith("question/")]
    return ExecutionOutcome(
        execution_id=view.execution_id,
        organisation=view.request.organisation,
        goal=view.request.goal,
        skill=view.request.skill or told.skill,
        state=state,
        findings=tuple(Found(f.verdict, in_language(f.statement, view), f.confidence) for f in told.findings),
        products=await _products(store, told, view, home),
        cards=await _open_cards(store, view, told.raised, people) if state in _ASKING else (),
        decided=await _closed_cards(store, view, told.raised, people),
        questions=tuple(await _open(questions, asked, await people(view))) if state is OrderState.WAITING else (),
        usage=report.usage if report else told.usage,
        error=report.error if report else None,
        asks=report.asks if report else None,
        output=report.output if report else None,
        failed_branches=told.failed_branches,
        not_offered=tuple(told.not_offered),
        repeated=repeated,
        imported=view.imported_at is not None,
    )


def in_language(text: str | dict[str, str], view: ExecutionView) -> str:
    """Return a text in the language of the execution, else in English, else in the first there is."""
    if isinstance(text, str):
        return text
    return text.get(view.request.language) or text.get("en") or next(iter(text.values()), "")


def card_standing(
    view: CardView, people: People, delegations: Sequence[Delegation] = (), now: datetime | None = None
) -> CardStanding:  # fmt: skip
    """Return a card as faces show it, with who may decide it as things stand now."""
    moment = now or view.card.raised_at
    rights = ((person, right_to_decide(people, delegations, view, person, moment)) for person in people)
    may = (person.id for person, right in rights if isinstance(right, Right))
    return CardStanding(
        card=view.card,
        state=CardState.OPEN if view.is_open else CardState.CLOSED,
        outcome=view.outcome,
        option=view.chosen.id if view.chosen else None,
        stands=view.state.value,
        card_sha256=view.card_sha256,
        decisions=view.decisions,
        edits=view.edits,
        who=view.who,
        deciders=tuple(may) if view.is_open else (),
        deadline=view.deadline if view.is_open else None,
        reason=view.reason,
        passed=view.passed is not None,
        superseded_by=view.superseded_by,
        acted_at=view.acted_at,
        back_by=view.back.by if view.back is not None else None,
        reviewed="" if not view.reviews else "right" if view.reviews[-1].right else "serious",
    )


async def _open(desk: QuestionDesk, asked: Sequence[QuestionId], people: People) -> list[Question]:
    found = [question for question in await desk.open_questions() if question.question_id in asked]
    return [with_person(question, people) for question in found]


def with_person(question: Question, people: People) -> Question:
    """Return the question put to one person who may answer it, where it was put to a group."""
    members = people.members(question.who) if question.who is not None else []
    return question.model_copy(update={"who": members[0].id}) if members else question


async def _open_cards(
    store: Store, view: ExecutionView, raised: Iterable[str], people: PeopleOf
) -> tuple[CardStanding, ...]:
    """Return the cards that wait; of a cancelled execution those in doubt are left."""
    views = [fold_card(await store.ledger.read(card)) for card in raised]
    return tuple([card_standing(card, await people(view)) for card in views if card.is_open])


async def _closed_cards(
    store: Store, view: ExecutionView, raised: Iterable[str], people: PeopleOf
) -> tuple[CardStanding, ...]:
    views = [fold_card(await store.ledger.read(card)) for card in raised]
    closed = [card for card in views if not card.is_open]
    return tuple([card_standing(card, await people(view)) for card in closed])


async def _products(store: Store, told: Told, view: ExecutionView, home: Path) -> tuple[Product, ...]:
    """Return the products in order, each in a folder named after its skill, later ones of a skill with their step."""
    top = home / "products" / view.execution_id.ulid
    taken: set[str] = set()
    shown = []
    for product in told.products:
        name = told.names.get(product.order_id, product.product_id.ulid)
        more = f"{name}-{product.step}"
        names = chain([name, more], (f"{more}-{number}" for number in count(2)))
        place = next(each for each in names if each not in taken)
        taken.add(place)
        shown.append(await _written(store, product, view, top / place))
    return tuple(shown)


async def _written(store: Store, product: DataProduct, view: ExecutionView, folder: Path) -> Product:
    """Put the files of a product where a person can open them; files that are there already are left alone."""
    files, damaged = {}, False
    for each in product.artifacts:
        try:
            files[Path(each.name).name] = await store.blobs.get(each.sha256)
        except (BlobDamaged, NotFound):
            damaged = True
    try:
        await asyncio.to_thread(_write, folder, files)
    except OSError as error:
        raise LedgerUnavailable(
            f"The product {product.product_id} cannot be written to {folder}: {error.strerror}. It is safe in the "
            "ledger; make room or rights and ask again with `silicon show`.",
            folder=str(folder),
        ) from error
    main = product.artifacts[0]
    path = _short(folder / main.name) if (folder / Path(main.name).name).exists() else None
    return Product(in_language(product.title, view), product.kind, path, main.sha256, damaged=damaged)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != data:
            file.write_bytes(data)


def _short(path: Path) -> Path:
    """Return the path as a person in the working directory would type it, where that is shorter."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
