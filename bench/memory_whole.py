"""What consolidation costs: requests and tokens by what was written, and none where nothing was.

A month of a person with conversations every day and writes on some of them, made from a seed. A stand-in for the model
answers with two memories in a line, so that the counts are those of the product and not of a model. Beside it stands
what it would take to read all memories again whenever a conversation begins.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import rig

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryKind, Usage
from memory.consolidation.consolidator import Consolidator
from memory.consolidation.opening import Opening
from memory.consolidation.shelf import Shelf
from memory.records.book import MemoryBook
from memory.records.port import MemoryDraft
from runtime.context.tokens import count
from runtime.ledger import open_store
from runtime.model.port import ModelAnswer, ModelRequest
from runtime.settings import LedgerSettings, MemorySettings

ORGANISATION = "bench"
ANN = MemoryHolder(kind=HolderKind.PERSON, name="ann")
DAYS, A_DAY = 30, 4
_LINE = re.compile(r"^(m\d+) \([^)]*\): (.*)$")


class Model:
    """Answers, and counts."""

    def __init__(self) -> None:
        self.requests = self.tokens = 0

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return lines of two memories each, in their own words."""
        body = str(request.messages[1]["content"])
        told = [match.groups() for line in body.split("\n") if (match := _LINE.match(line))]
        lines = [
            {"theme": "Environment", "text": " ".join(text for _, text in pair), "from": [name for name, _ in pair]}
            for pair in (told[at : at + 2] for at in range(0, len(told), 2))
        ]
        content = json.dumps({"lines": lines})
        tokens_in = count(str(request.messages[0]["content"]) + body, "").tokens
        tokens_out = count(content, "").tokens
        self.requests += 1
        self.tokens += tokens_in + tokens_out
        return ModelAnswer(content, usage=Usage(tokens_in=tokens_in, tokens_out=tokens_out))


async def whole(folder: Path) -> dict[str, Any]:
    """Measure a month."""
    chance, clock, model, home = random.Random(11), rig.HandClock(), Model(), Path(tempfile.mkdtemp(dir=folder))
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock)
    try:
        book = MemoryBook(store, ORGANISATION, clock=clock, settings=MemorySettings())
        work = Consolidator(
            store, book, ORGANISATION, clock=clock, settings=MemorySettings(), ask=model.ask
        )  # fmt: skip
        shelf, written, quiet, naive, days = Shelf(ANN), 0, 0, 0, list[tuple[int, int]]()
        for day in range(DAYS):
            many = chance.choice((0, 0, 1, 2, 5, 12))
            drafts = [_draft(chance, day, each) for each in range(many)]
            await book.add_many(drafts, by="ann")
            written += many
            before = model.requests
            for _ in range(A_DAY):
                await work.consolidate(shelf)
                naive += written > 0
            days.append((many, model.requests - before))
            quiet += model.requests - before if many == 0 else 0
            clock.moment += timedelta(days=1)
        pages = await Opening(work, MemorySettings()).tell([shelf], clock.now())
    finally:
        await store.close()
    return {
        "days": DAYS, "conversations": DAYS * A_DAY, "memories_written": written, "requests": model.requests,
        "requests_on_days_without_a_write": quiet, "days_with_a_write": sum(many > 0 for many, _ in days),
        "tokens": model.tokens, "tokens_a_memory": round(model.tokens / max(written, 1), 1),
        "requests_if_all_were_read_each_time": naive, "page_chars": sum(len(page.text) for page in pages),
        "lines_left_out": sum(page.left_out for page in pages),
    }  # fmt: skip


def _draft(chance: random.Random, day: int, each: int) -> MemoryDraft:
    words: Sequence[str] = ("runway", "desk", "storm", "crew", "gate", "carrier", "delay", "plan", "note", "call")
    text = f"On day {day} note {each} says {' '.join(chance.choices(words, k=8))}."
    return MemoryDraft(text, MemoryKind.SEMANTIC, MemoryClass.FACT, ANN, round(chance.uniform(0.3, 0.9), 2))
