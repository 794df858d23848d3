"""Profiles: noticed from how somebody asks, theirs to correct and delete, and each depth does something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import MemoryClass
from memory.conversations import Speaker, Turn
from memory.personal.acting import AnswerForm, explaining_for, form_of, guidance, weigher
from memory.personal.book import ProfileBook
from memory.personal.noticing import Notice, noticed
from memory.personal.profile import Observation, Profile, folded
from memory.personal.reader import ProfileReader
from memory.personal.traits import CHOICES, Depth, checked
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from runtime.errors import InvalidArguments, LedgerUnavailable, NotFound
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ORGANISATION, a_draft
from tests.memory.consolidation.test_listening import Talk

pytestmark = pytest.mark.anyio
SETTINGS = MemorySettings()
NOW = datetime(2026, 11, 30, tzinfo=UTC)
TERMS = ("cancel-rate", "delay-tail")


def turn(text: str, number: int = 1, recalled: tuple[str, ...] = (), at: datetime = NOW) -> Turn:
    return Turn("conversation/one", ORGANISATION, number, Speaker.PERSON, text, recalled, None, at, number)


def seen(text: str, *before: str, recalled: tuple[str, ...] = ()) -> set[tuple[str, str, float]]:
    earlier = [turn(each) for each in before]
    return {(n.trait, n.value, n.weight) for n in noticed(turn(text, recalled=recalled), earlier, terms=TERMS)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I prefer tables.", ("format", "table", 1.0)),
        ("Please always answer briefly.", ("length", "short", 1.0)),
        ("I don't like charts.", ("format", "chart", -1.0)),
        ("我喜欢用表格。", ("format", "table", 1.0)),
        ("请总是用中文回答。", ("language", "zh", 1.0)),
        ("What was the cost at Newark?", ("perspective", "cost", 1.0)),
        ("What was the cost at Newark?", ("entity", "Newark", 1.0)),
        ("Show me the cancel rate by week.", ("metric", "cancel-rate", 1.0)),
        ("Show me the cancel rate by week.", ("granularity", "week", 1.0)),
        ("昨天的成本是多少？", ("perspective", "cost", 1.0)),
        ("What could go wrong?", ("decides_by", "risks", 1.0)),
        ("What would you recommend?", ("decides_by", "recommendation", 1.0)),
        ("What is the cancel rate?", ("term", "cancel-rate=to explain", 2.0)),
        ("The cancel rate went up because of the snow.", ("term", "cancel-rate=known", 0.5)),
        ("No, not delays, but cancellations.", ("topic", "delays", -1.0)),
        ("No, not delays, but cancellations.", ("topic", "cancellations", 1.0)),
    ],
)
def test_how_somebody_asks_is_noticed(text: str, expected: tuple[str, str, float]) -> None:
    assert expected in seen(text)


def test_asking_further_counts_more_and_what_is_left_aside_counts_against() -> None:
    assert ("entity", "Newark", 1.5) in seen("And the cost at Newark?", "What was the delay at Newark?")
    assert ("entity", "Kennedy", -0.25) in seen("Go on.", recalled=("Snow fell at Kennedy.",))
    assert not any(
        value == "Kennedy" for _, value, _ in seen("And at Kennedy?", recalled=("Snow fell at Kennedy.",)) if _ < 0
    )


def test_small_talk_tells_nothing() -> None:
    assert seen("Hello!") == set() and seen("Thanks, that is great.") == set()


ROLES = ["manager", "Managers", "an expert", "CFO", "the boss", "经理", "财务专家", "junior analyst", "head of sales"]


@pytest.mark.parametrize("trait", [trait for traits in CHOICES.values() for trait in traits])
@pytest.mark.parametrize("role", ROLES)
async def test_nobody_is_put_into_a_role(quick: MemoryBook, clock: HandClock, trait: str, role: str) -> None:
    with pytest.raises(InvalidArguments):
        checked(trait, role)
    with pytest.raises(InvalidArguments):
        await ProfileBook(quick._store, ORGANISATION, clock=clock, settings=SETTINGS).set("ann", trait, role)


def test_a_role_that_somebody_names_is_not_noticed() -> None:
    assert not [
        value for _, value, _ in seen("What does the Manager think, and the CFO?") if "M" in value or "CFO" in value
    ]


@given(st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 3_000)), min_size=1, max_size=20), st.integers(1, 400))
def test_weights_fade_by_the_closed_formula(told: list[tuple[float, int]], half_life: int) -> None:
    settings = MemorySettings(attention_half_life_days=half_life)
    observations = [
        Observation("entity", "Newark", weight, "asked", NOW - timedelta(days=days), "c", n)
        for n, (weight, days) in enumerate(told)
    ]
    expected = sum(weight * 0.5 ** (days / half_life) for weight, days in told)
    found = [each.weight for each in folded("ann", observations, {}, NOW, settings).traits]
    assert found == ([pytest.approx(expected)] if abs(expected) >= 0.1 else [])


def profile_of(*told: tuple[str, str, float], own: dict[str, str] | None = None, days: int = 0) -> Profile:
    at = NOW - timedelta(days=days)
    observations = [
        Observation(trait, value, weight, "said", at, "c", n) for n, (trait, value, weight) in enumerate(told)
    ]
    return folded("ann", observations, own or {}, NOW, SETTINGS)


def test_the_first_depth_changes_the_form_of_answers() -> None:
    profile = profile_of(("format", "table", 1.0), ("length", "short", 1.0), ("language", "zh", 1.0))
    assert form_of(profile) == AnswerForm("zh", "table", "short")
    assert guidance(profile) == "Answer in Chinese.\nPut figures into a table.\nBe brief."
    assert form_of(profile_of()) == AnswerForm() and guidance(profile_of()) == ""
    assert form_of(profile_of(("format", "table", 1.0), own={"format": "prose"})).format == "prose"
    assert form_of(profile_of(("format", "table", 1.0), days=60)).format is None, "said once, and long ago"


async def test_the_second_depth_turns_the_order_of_what_is_found_and_fades(quick: MemoryBook, clock: HandClock) -> None:
    await quick.add_many([a_draft("Snow fell at Newark.", memory_class=MemoryClass.FACT),
                          a_draft("Snow fell at Kennedy.", memory_class=MemoryClass.FACT)], by="ann")  # fmt: skip
    recall = MemoryRecall(quick, SETTINGS)
    book = ProfileBook(quick._store, ORGANISATION, clock=clock, settings=SETTINGS)
    for person, airport in (("ann", "Newark"), ("ben", "Kennedy")):
        for number in range(4):
            await book.notice(person, turn("x", number + 1, at=clock.now()), [Notice("entity", airport, 1.0, "asked")])

    async def first(person: str) -> tuple[str, float]:
        personal = weigher(await book.get(person), SETTINGS)
        found = await recall.search("snow", MemoryFilter(), now=clock.now(), personal=personal)
        assert len(found.hits) == 2, "nothing is hidden"
        return found.hits[0].record.text, found.hits[0].parts["personal"]

    assert await first("ann") == ("Snow fell at Newark.", pytest.approx(1.2))
    assert await first("ben") == ("Snow fell at Kennedy.", pytest.approx(1.2))
    clock.advance(365 * 86_400)
    assert (await first("ann"))[1] == (await first("ben"))[1] == 1.0


def test_the_third_depth_changes_depth_and_order_of_explanations() -> None:
    profile = profile_of(
        ("decides_by", "risks", 1.0), ("depth", "overview", 1.0), ("term", "cancel-rate=to explain", 2.0),
        ("term", "delay-tail=known", 1.0), ("term", "cancel-rate=known", 0.5),
    )  # fmt: skip
    how = explaining_for(profile)
    assert (how.depth, how.first, how.explain, how.known) == ("overview", "risks", ["cancel-rate"], ["delay-tail"])
    assert "Begin with what could go wrong." in guidance(profile)
    assert "Explain these words where they occur: cancel-rate." in guidance(profile)


async def test_what_is_noticed_stands_with_its_turns_and_counts_each_once(store: SqlStore, clock: HandClock) -> None:
    book = ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS)
    talk = Talk(store, "one", domain="airports")
    await talk.begin()
    await talk.say("I prefer tables.", "What was the cost at Newark?")
    await talk.say("I like prose.", speaker="employee")
    reader = ProfileReader(book, store.ledger, ORGANISATION, lambda: TERMS)
    assert await reader.catch_up() == 2 and await reader.catch_up() == 0
    profile = await ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS).get("ann")
    table = next(each for each in profile.traits if each.trait == "format")
    assert (table.value, table.depth) == ("table", Depth.FORM)
    assert [(each.conversation, each.turn) for each in table.because] == [("conversation/one", 1)]
    assert {(each.trait, each.value) for each in profile.traits} >= {("domain", "airports"), ("entity", "Newark")}
    assert (await book.get("ben")).traits == ()
    assert not await book.notice("ann", turn("x", 1), [Notice("format", "list", 1.0, "said")]), "that turn was read"


async def test_what_a_person_says_of_themselves_beats_what_was_noticed_and_does_not_fade(
    store: SqlStore, clock: HandClock
) -> None:
    book = ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS)
    await book.notice("ann", turn("x", at=clock.now()), [Notice("format", "table", 1.0, "said")] * 3)
    assert form_of(await book.set("ann", "format", "prose")).format == "prose"
    await book.set("ann", "term", "cancel-rate=to explain")
    await book.set("ann", "topic", "runways")
    clock.advance(3_000 * 86_400)
    profile = await book.get("ann")
    assert (form_of(profile).format, explaining_for(profile).explain) == ("prose", ["cancel-rate"])
    assert [each.value for each in profile.traits if each.trait == "topic"] == ["runways"]


async def test_a_forgetting_that_dies_half_way_counts_nothing_twice_and_can_be_done_again(
    store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS)
    both = [Notice("entity", "Zebedee", 1.0, "asked"), Notice("format", "table", 1.0, "said")]
    await book.notice("ann", turn("x", at=clock.now()), both)
    with monkeypatch.context() as away:
        away.setattr(type(store.ledger), "erase", AsyncMock(side_effect=LedgerUnavailable("The server is away.")))
        with pytest.raises(LedgerUnavailable):
            await book.forget("ann", "entity", "Zebedee")
    other = ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS)
    [table] = (await other.get("ann")).traits
    assert (table.value, len(table.because)) == ("table", 1)
    await other.forget("ann", "entity", "Zebedee")
    assert not [event for event in await store.ledger.read_all() if "Zebedee" in str(event.data)]


async def test_what_is_forgotten_is_gone_for_good_and_everywhere(store: SqlStore, clock: HandClock) -> None:
    book, other = (ProfileBook(store, ORGANISATION, clock=clock, settings=SETTINGS) for _ in range(2))
    await book.notice(
        "ann",
        turn("x", at=clock.now()),
        [Notice("entity", "Zebedee", 1.0, "asked"), Notice("format", "table", 1.0, "said")],
    )
    assert len((await other.get("ann")).traits) == 2
    await book.forget("ann", "entity", "Zebedee")
    for each in (book, other):
        assert [trait.value for trait in (await each.get("ann")).traits] == ["table"]
    assert not [event for event in await store.ledger.read_all() if "Zebedee" in str(event.data)]
    with pytest.raises(NotFound):
        await book.forget("ann", "entity", "Zebedee")
    assert await book.erase("ann") > 0
    for each in (book, other):
        assert (await each.get("ann")).traits == ()
    assert await store.ledger.verify() == []
    await book.notice("ann", turn("y", 2, at=clock.now()), [Notice("format", "list", 1.0, "said")])
    assert [trait.value for trait in (await other.get("ann")).traits] == ["list"]


@pytest.mark.parametrize(
    ("trait", "value", "why"),
    [
        ("format", "poem", "one of table"),
        ("mood", "good", "no trait"),
        ("topic", "", "1 to 60"),
        ("topic", "x" * 61, "1 to"),
    ],
)
async def test_what_there_is_not_cannot_be_set(
    quick: MemoryBook, clock: HandClock, trait: str, value: str, why: str
) -> None:
    book = ProfileBook(quick._store, ORGANISATION, clock=clock, settings=SETTINGS)
    with pytest.raises(InvalidArguments, match=why):
        await book.set("ann", trait, value)


async def test_a_turn_that_cannot_be_read_holds_up_nobody(sqlite_store: SqlStore, clock: HandClock) -> None:
    book = ProfileBook(sqlite_store, ORGANISATION, clock=clock, settings=SETTINGS)
    told: dict[str, Any] = {"turn": "x"}
    await sqlite_store.ledger.append(
        Append("conversation/bad", [NewEvent("conversation.turn", told)], 0, ORGANISATION, "/t")
    )
    talk = Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("I prefer tables.")
    assert await ProfileReader(book, sqlite_store.ledger, ORGANISATION).catch_up() == 1
