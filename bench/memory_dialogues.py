"""Long dialogues with known truth, made from a seed: what was said in many sessions, and questions with their evidence.

There is no public set of long dialogues on a machine without the network, so this one is made; it is no harder than its
maker thought of, and what is measured with it compares ways of searching with each other, not with other papers.

Twelve people talk in weekly sessions over a year. A session holds small talk, plans of the day, and now and then a fact
about one of forty subjects in one of several wordings; many facts are about look-alike subjects of others, and a
fifth of them are said anew later with another value. Questions ask in other words than the fact was said in: a third
share its main word, a third a synonym only, a third ask what held at a time. The evidence is the one sentence that
answers; of facts that were said anew it is the newest, or the one of the time that is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

BEGAN = datetime(2025, 1, 6, 9, tzinfo=UTC)
WEEKS = 52
PEOPLE = ("Ana", "Boris", "Carla", "Deniz", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Luis")
PLACES = ("Lisbon", "Oslo", "Izmir", "Quito", "Leeds", "Graz", "Turku", "Bergen", "Porto", "Ghent", "Basel", "Riga")
THINGS = ("violin", "sailing boat", "camera", "bicycle", "telescope", "loom", "kayak", "piano", "greenhouse", "drone")
WORK = ("nurse", "baker", "surveyor", "welder", "librarian", "pilot", "beekeeper", "notary", "brewer", "tutor")
FOODS = ("lentil soup", "plum cake", "grilled trout", "barley salad", "goat cheese", "mushroom pie", "rice pudding")

TOPICS: Sequence[tuple[str, Sequence[str], Sequence[str], Sequence[str]]] = (
    ("home", PLACES, ("{p} moved to {v} last month.", "{p} lives in {v} these days."),
     ("Where is {p} living?", "In which city does {p} reside?", "What town is {p}'s home?")),
    ("work", WORK, ("{p} started working as a {v}.", "{p} took a job as {v}."),
     ("What does {p} work as?", "How does {p} earn money?", "What is {p}'s profession?")),
    ("hobby", THINGS, ("{p} bought a {v} for weekends.", "{p} spends free time with a new {v}."),
     ("What did {p} buy for weekends?", "What is {p}'s pastime?", "What does {p} enjoy after office hours?")),
    ("dish", FOODS, ("{p} cooks {v} for guests.", "{p} said {v} is the best thing to eat."),
     ("What does {p} cook for guests?", "What is {p}'s favourite meal?", "Which dish does {p} serve visitors?")),
)  # fmt: skip
TALK = (
    "Good morning, the train was late again.", "It rains so much this week.", "{p} says hello to everybody.",
    "Let us meet at the cafe near the station.", "{p} was tired after the long meeting.", "The printer is broken.",
    "{p} will call back on Thursday.", "I have to water the plants.", "We should visit {v} some day.",
    "{p} liked the film about the sea.", "Somebody left a {v} in the hall.", "{p} asked when the holidays begin.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, when it was said, and in which session."""

    text: str
    at: datetime
    session: str
    person: str
    """About whom it is; empty for small talk about nobody."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, asked at the end, and the numbers of the sentences that answer it."""

    text: str
    evidence: tuple[int, ...]
    kind: str
    """`same_word`, `other_words`, `at_a_time`."""
    since: datetime | None = None
    until: datetime | None = None


def dialogues(sentences: int, seed: int = 11) -> tuple[list[Said], list[Question]]:
    """Return so many sentences of a year, in order, and questions about them."""
    chance = random.Random(seed)
    told: dict[tuple[str, str], list[int]] = {}
    said = list(_sentences(chance, sentences, told))
    return said, list(_questions(chance, said, told))


def _sentences(chance: random.Random, count: int, told: dict[tuple[str, str], list[int]]) -> Iterator[Said]:
    facts = [(person, topic) for person in PEOPLE for topic in TOPICS]
    every = max(count // (len(facts) * 2), 3)
    for number in range(count):
        at = BEGAN + timedelta(days=7 * (number * WEEKS // count), minutes=number % 300)
        session = f"conversation/week-{number * WEEKS // count}"
        if number % every == 0 and facts:
            person, topic = facts[chance.randrange(len(facts))]
            value = chance.choice(topic[1])
            told.setdefault((person, topic[0]), []).append(number)
            yield Said(chance.choice(topic[2]).format(p=person, v=value), at, session, person)
        else:
            person = chance.choice(PEOPLE)
            value = chance.choice((*PLACES, *THINGS))
            yield Said(chance.choice(TALK).format(p=person, v=value), at, session, person)


def _questions(
    chance: random.Random, said: Sequence[Said], told: dict[tuple[str, str], list[int]]
) -> Iterator[Question]:
    for (person, name), numbers in sorted(told.items()):
        topic = next(each for each in TOPICS if each[0] == name)
        for at, ask in enumerate(topic[3]):
            kind = "same_word" if at == 0 else "other_words"
            yield Question(ask.format(p=person), (numbers[-1],), kind)
        if len(numbers) > 1:
            old = numbers[chance.randrange(len(numbers) - 1)]
            month = said[old].at
            since, until = month - timedelta(days=3), month + timedelta(days=3)
            yield Question(topic[3][0].format(p=person), (old,), "at_a_time", since, until)
