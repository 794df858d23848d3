"""What becomes of what is said: kept, reinforced, left, or in conflict with what is known."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import MemoryClass, MemorySource, MemoryState
from memory.records.book import MemoryBook
from memory.records.port import MemoryDraft, MemoryFilter
from memory.writing.policy import Feature
from memory.writing.writer import Became, MemoryWriter, Written
from runtime.errors import InvalidArguments
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BEN, a_draft

pytestmark = pytest.mark.anyio
YEAR = {"subject": "fiscal year", "relation": "starts in", "memory_class": MemoryClass.FACT, "holder": ANN}
_turn = iter(range(1, 10_000))


def said(text: str, **changes: Any) -> MemoryDraft:
    """Return a draft of a turn of its own."""
    return a_draft(text, **{"source": MemorySource(conversation="conversation/x", turn=next(_turn)), **changes})


async def write(writer: MemoryWriter, draft: MemoryDraft, *features: Feature, **options: Any) -> Written:
    return await writer.write(draft, features or (Feature.FACT,), **{"by": "ann", **options})


async def current(book: MemoryBook) -> list[str]:
    return [record.text for record in await book.find(MemoryFilter(every_domain=True))]


async def test_what_has_no_source_is_refused(writer: MemoryWriter, quick: MemoryBook) -> None:
    with pytest.raises(InvalidArguments, match="has a source"):
        await write(writer, a_draft())
    assert await current(quick) == []


async def test_what_has_too_few_points_is_left_and_says_so(writer: MemoryWriter, quick: MemoryBook) -> None:
    left = await write(writer, said("Gate B again."), Feature.DECISION)
    assert (left.became, left.why) == (Became.LEFT, "2 points of 3")
    assert await current(quick) == []


async def test_the_same_words_again_reinforce_what_is_there(writer: MemoryWriter, quick: MemoryBook) -> None:
    first = await write(writer, said("The year starts in April."))
    again = await write(writer, said("the YEAR  starts in april."))
    assert (again.became, again.judgement.score) == (Became.REINFORCED, 5)
    assert again.record and first.record and again.record.memory_id == first.record.memory_id
    assert again.record.confidence > first.record.confidence
    assert await current(quick) == ["The year starts in April."]


async def test_the_same_turn_again_changes_nothing(writer: MemoryWriter, quick: MemoryBook) -> None:
    draft = said("The year starts in April.")
    first, again = await write(writer, draft), await write(writer, draft)
    assert again.became is Became.THERE
    assert first.record and len(await quick.history(first.record.memory_id)) == 1


async def test_what_was_recalled_is_never_stored_again(writer: MemoryWriter, quick: MemoryBook) -> None:
    shown = ["The year of the three airports starts in April."]
    kept = await write(writer, said("So the year of the three airports starts in April."), shown=shown)
    assert kept.became is Became.SHOWN_BEFORE
    assert await current(quick) == []


async def test_a_newer_preference_takes_the_place_of_the_older(writer: MemoryWriter, quick: MemoryBook) -> None:
    about = {"subject": "the person", "relation": "is called", "memory_class": MemoryClass.PREFERENCE, "holder": ANN}
    first = await write(writer, said("Call me Ann.", value="Ann", **about))
    second = await write(writer, said("Call me Annie.", value="Annie", **about))
    assert first.record and (second.became, second.other) == (Became.SUPERSEDES, first.record.memory_id)
    assert await current(quick) == ["Call me Annie."]

    await quick.undo(first.record.memory_id, by="ann")
    assert await current(quick) == ["Call me Ann."]


async def test_a_weaker_fact_waits_and_overtakes_once_it_was_said_often(
    writer: MemoryWriter, quick: MemoryBook
) -> None:
    await write(writer, said("It starts in April.", value="April", confidence=0.8, **YEAR))
    waits = await write(writer, said("It starts in May.", value="May", confidence=0.5, **YEAR), by="ben")
    assert (waits.became, waits.why) == (Became.DISPUTED, "it weighs 0.50, and what is known 0.80")
    became = []
    for _ in range(5):
        became.append((await write(writer, said("May it is.", value="May", **YEAR), by="ben")).became)
        if became[-1] is Became.SUPERSEDES:
            break
    assert became[0] is Became.REINFORCED and became[-1] is Became.SUPERSEDES
    assert await current(quick) == ["It starts in May."]


async def test_whoever_said_a_fact_may_say_otherwise_however_often_it_was_said(
    writer: MemoryWriter, quick: MemoryBook
) -> None:
    for _ in range(4):
        await write(writer, said("It starts in April.", value="April", **YEAR))
    newer = await write(writer, said("It starts in May.", value="May", confidence=0.1, **YEAR))
    assert newer.became is Became.SUPERSEDES
    assert await current(quick) == ["It starts in May."]


async def test_the_same_value_in_other_words_is_said_again(writer: MemoryWriter, quick: MemoryBook) -> None:
    await write(writer, said("It starts in April.", value="April", **YEAR))
    again = await write(writer, said("Our year begins with april!", value="april", **YEAR))
    assert again.became is Became.REINFORCED
    assert await current(quick) == ["It starts in April."]


async def test_a_fact_that_nobody_said_for_long_gives_way_to_a_weaker_one(
    writer: MemoryWriter, quick: MemoryBook, clock: HandClock
) -> None:
    await write(writer, said("It starts in April.", value="April", confidence=0.8, **YEAR))
    clock.advance(365 * 86_400)
    newer = await write(writer, said("It starts in May.", value="May", confidence=0.5, **YEAR), by="ben")
    assert newer.became is Became.SUPERSEDES


@pytest.mark.parametrize("memory_class", [MemoryClass.DECISION, MemoryClass.RULE])
async def test_what_contradicts_a_key_decision_waits_for_a_person_however_sure_it_is(
    writer: MemoryWriter, quick: MemoryBook, memory_class: MemoryClass
) -> None:
    about = {"subject": "freight", "relation": "is bought from", "holder": ANN}
    known = await write(writer, said("We buy from Oak.", value="Oak", memory_class=memory_class, **about))
    against = said("We buy from Elm.", value="Elm", memory_class=MemoryClass.FACT, confidence=1.0, **about)
    waits = await write(writer, against)
    again = await write(writer, said("We buy from Elm.", value="Elm", memory_class=MemoryClass.FACT, **about))
    assert (waits.became, again.became) == (Became.DISPUTED, Became.REINFORCED)
    assert await current(quick) == ["We buy from Oak."]

    assert known.record and waits.record
    await quick.confirm(waits.record.memory_id, by="morgan", supersedes=known.record.memory_id)
    assert await current(quick) == ["We buy from Elm."]


@pytest.mark.parametrize(
    "changes",
    [{"holder": BEN}, {"domain": "sales"}, {"subject": "calendar year"}, {"relation": "ends in"}, {"value": None}],
)
async def test_only_the_same_subject_and_relation_of_one_holder_and_domain_contradict(
    writer: MemoryWriter, quick: MemoryBook, changes: dict[str, Any]
) -> None:
    await write(writer, said("It starts in April.", value="April", **YEAR))
    other = await write(writer, said("It starts in May.", **{"value": "May", **YEAR, **changes}))
    assert other.became is Became.WRITTEN
    assert len(await quick.find(MemoryFilter(states=[MemoryState.ACTIVE], every_domain=True))) == 2
