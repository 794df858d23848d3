"""Whether what is noticed of people is true, and whether each of its depths does something.

Forty made people, each with a format they like, an airport they look at, what they decide by and a word they do not
know. Each says forty turns in which that shows in a third of them, in several wordings; the rest is small talk and
questions about anything. A quarter of the wordings are ones that no pattern was written for.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import rig

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryKind
from memory.conversations import Speaker, Turn
from memory.personal.acting import explaining_for, form_of, weigher
from memory.personal.book import ProfileBook
from memory.personal.noticing import noticed
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.port import MemoryDraft, MemoryFilter
from runtime.ledger import open_store
from runtime.settings import LedgerSettings, MemorySettings

ORGANISATION, PEOPLE, TURNS = "bench", 40, 40
AIRPORTS = ("Newark", "Kennedy", "LaGuardia", "Boston", "Denver", "Miami", "Austin", "Seattle")
TERMS = ("cancel-rate", "delay-tail", "late-share", "load-factor")
FORMS = {
    "table": ("I prefer tables.", "Please always use a table.", "I like tables.", "Rows and columns, if you can."),
    "list": ("I prefer lists.", "Please always answer in bullet points.", "I like lists.", "Dash after dash is best."),
    "prose": ("I prefer prose.", "Please write full sentences.", "I like running text.", "Tell it like a story."),
}
DECIDES = {
    "risks": ("What could go wrong?", "What are the risks?", "What might go wrong here?", "Where does it hurt?"),
    "numbers": ("How many were there?", "How much is it?", "What are the numbers?", "Count it for me."),
    "evidence": ("How do you know?", "What is the evidence?", "What are the sources?", "Says who?"),
}
TALK = ("Hello!", "Thanks.", "Good morning.", "What comes next?", "Let us go on.", "Hm.", "It was a long day.")


@dataclass(frozen=True)
class Person:
    """What is true of somebody."""

    name: str
    form: str
    airport: str
    decides_by: str
    term: str

    def says(self, chance: random.Random) -> str:
        """Return a turn of theirs."""
        if chance.random() > 1 / 3:
            return chance.choice((*TALK, f"What happened at {chance.choice(AIRPORTS)}?"))
        return chance.choice(
            (
                chance.choice(FORMS[self.form]), chance.choice(DECIDES[self.decides_by]),
                f"What was the delay at {self.airport}?", f"And the cost at {self.airport}?",
                f"What is the {self.term.replace('-', ' ')}?",
            )
        )  # fmt: skip


async def people(folder: Path) -> dict[str, Any]:
    """Measure all of them."""
    chance, clock, settings = random.Random(17), rig.HandClock(), MemorySettings()
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=Path(tempfile.mkdtemp(dir=folder)), clock=clock)
    try:
        book = MemoryBook(store, ORGANISATION, clock=clock, settings=settings)
        business = MemoryHolder(kind=HolderKind.BUSINESS, name=ORGANISATION)
        await book.add_many(
            [
                MemoryDraft(f"Snow fell at {airport}.", MemoryKind.SEMANTIC, MemoryClass.FACT, business)
                for airport in AIRPORTS
            ],
            by="bench",
        )
        recall, profiles = (
            MemoryRecall(book, settings),
            ProfileBook(store, ORGANISATION, clock=clock, settings=settings),
        )
        everybody = [
            Person(f"p{n}", chance.choice(list(FORMS)), chance.choice(AIRPORTS), chance.choice(list(DECIDES)),
                   chance.choice(TERMS))
            for n in range(PEOPLE)
        ]  # fmt: skip
        for person in everybody:
            said: list[Turn] = []
            for number in range(1, TURNS + 1):
                turn = Turn(
                    f"conversation/{person.name}", ORGANISATION, number, Speaker.PERSON, person.says(chance), (), None,
                    clock.now(), number,
                )  # fmt: skip
                await profiles.notice(person.name, turn, list(noticed(turn, said, terms=TERMS)))
                said.append(turn)

        async def ranks() -> list[int]:
            found = []
            for person in everybody:
                personal = weigher(await profiles.get(person.name), settings)
                hits = await recall.search("snow", MemoryFilter(), now=clock.now(), top=8, personal=personal)
                order = [hit.record.text for hit in hits.hits]
                found.append(next(n for n, text in enumerate(order, 1) if person.airport in text))
            return found

        known = [(person, await profiles.get(person.name)) for person in everybody]
        with_profile = await ranks()
        clock.moment += timedelta(days=365)
        faded = await ranks()
    finally:
        await store.close()
    words = [(person.term, set(explaining_for(profile).explain)) for person, profile in known]
    return {
        "people": PEOPLE, "turns_each": TURNS,
        "form_right": _share([form_of(profile).format == person.form for person, profile in known]),
        "form_wrong": _share([form_of(profile).format not in (None, person.form) for person, profile in known]),
        "own_airport_first": _share([rank == 1 for rank in with_profile]),
        "mean_rank_of_own_airport": round(sum(with_profile) / PEOPLE, 2),
        "mean_rank_a_year_later": round(sum(faded) / PEOPLE, 2),
        "mean_rank_by_chance": (len(AIRPORTS) + 1) / 2,
        "decides_by_right": _share([explaining_for(profile).first == person.decides_by for person, profile in known]),
        "unknown_word_explained": _share([term in found for term, found in words]),
        "words_explained_too_many": sum(len(found - {term}) for term, found in words),
    }  # fmt: skip


def _share(right: list[bool]) -> float:
    return round(sum(right) / len(right), 3)
