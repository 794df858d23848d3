"""Memory: how well and how fast the few sentences are found that a question needs, beside plainer ways.

    python bench/memory.py [--json] [--sentences 1000 4000] [--scale 1000 10000 100000]
                           [--parts retrieval stream whole people scale]

`retrieval`: long dialogues with labelled evidence (`memory_dialogues.py`, made from a seed), each sentence a record of
its own date. recall@5, @10, @20 and MRR of the search as it is, by words alone and (with the extra `embeddings`) by
words and meaning; beside it plain BM25 without stemming, stop words or a closer look, plain vectors, the newest.
The same stands there half a year later, and with decay off; `decay_loss` is what recall@10 loses with decay on, now or
half a year later, whichever is worse (less than nothing: it gains).
`given` tells what a search gives at its settings: how many records, which part of them is evidence, which part of the
questions it covers; and how many it would take to cover as much without decay and filters.

`scale`: milliseconds of a search among so many records, the question's own vector apart (vectors are random: they cost
the same), and the memory of the index over the process before.

`stream`: 1,000 turns with small talk, repeats, contradictions and recalled text go through what reads turns: what is
kept, how much of it is true and new, how much of the truth is kept, and stale facts that are recalled as current.

`whole`: what consolidation costs in a month of conversations (`memory_whole.py`). `people`: what is noticed of forty
made people, and what it does (`memory_people.py`).
"""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_dialogues import Question, Said, dialogues
from memory_people import people
from memory_stream import stream
from memory_whole import whole
from rig import HandClock, machine, parser, show

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryKind
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.port import MemoryDraft, MemoryFilter
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.search import Embedder, KeptVectors, local_embedder
from runtime.settings import LedgerSettings, MemorySettings

ORGANISATION = "bench"
HOLDER = MemoryHolder(kind=HolderKind.BUSINESS, name=ORGANISATION)
WIDE = MemorySettings(recalled=40, relevance_least=0.0, shown_tokens=100_000)
"""Twenty hits are looked at, so nothing is left out."""
NO_DECAY = WIDE.model_copy(update={"decay_floor": 1.0})
DECAYED_DAYS = 180
_MOST = 60
"""Records that are looked at in the search for as many as cover as much."""


async def laid(store: SqlStore, clock: HandClock, said: Sequence[Said]) -> tuple[MemoryBook, list[str]]:
    """Write each sentence as a record of its date; return the book and the ids."""
    book = MemoryBook(store, ORGANISATION, clock=clock, settings=WIDE)
    ids: list[str] = []
    by_day: dict[datetime, list[Said]] = {}
    for each in said:
        by_day.setdefault(each.at.replace(hour=9, minute=0), []).append(each)
    for day, those in by_day.items():
        clock.moment = day
        drafts = [
            MemoryDraft(
                each.text, MemoryKind.EPISODIC, MemoryClass.PREFERENCE, HOLDER, 1.0, session=each.session,
                entities=(each.person,), valid_from=each.at,
            )
            for each in those
        ]  # fmt: skip
        ids += [record.memory_id for record in await book.add_many(drafts, by="bench")]
    clock.moment = said[-1].at + timedelta(days=1)
    return book, ids


def scored(found: Mapping[str, Sequence[Sequence[int]]], questions: Sequence[Question]) -> dict[str, Any]:
    """Return way → recall@5, @10, @20 and MRR over all questions, and recall@5 of each kind."""
    return {way: _of_way(ranks, questions) for way, ranks in found.items()}


def _of_way(ranks: Sequence[Sequence[int]], questions: Sequence[Question]) -> dict[str, Any]:
    at: dict[str, float] = {}
    for most in (5, 10, 20):
        hits = [bool(set(found[:most]) & set(asked.evidence)) for found, asked in zip(ranks, questions, strict=True)]
        at[f"recall_{most}"] = round(sum(hits) / len(hits), 4)
    first = [
        next((1 / (place + 1) for place, number in enumerate(found[:20]) if number in asked.evidence), 0.0)
        for found, asked in zip(ranks, questions, strict=True)
    ]
    kinds = {
        kind: round(
            sum(
                bool(set(found[:5]) & set(asked.evidence))
                for found, asked in zip(ranks, questions, strict=True)
                if asked.kind == kind
            )
            / count,
            4,
        )
        for kind, count in Counter(asked.kind for asked in questions).items()
    }
    return {**at, "mrr": round(sum(first) / len(first), 4), "recall_5_by_kind": kinds}


async def retrieval(sentences: int, folder: Path) -> dict[str, Any]:
    """Measure one length of dialogue."""
    said, questions = dialogues(sentences)
    clock, home = HandClock(), Path(tempfile.mkdtemp(dir=folder))
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock)
    try:
        book, ids = await laid(store, clock, said)
        number_of = {memory_id: number for number, memory_id in enumerate(ids)}
        local = local_embedder()
        embedder = None if local is None else KeptVectors(local, folder / "vectors")
        found: dict[str, list[list[int]]] = {
            "plain BM25": _plain(said, questions),
            "newest first": [_newest(said, asked) for asked in questions],
        }
        ways: dict[str, tuple[Embedder | None, int, MemorySettings]] = {
            "ours, words": (None, 0, WIDE),
            "ours, words, half a year later": (None, DECAYED_DAYS, WIDE),
            "ours, words, decay off": (None, 0, NO_DECAY),
        }
        if embedder is not None:
            found["plain vectors"] = await _by_vectors(said, questions, embedder)
            ways |= {
                "ours": (embedder, 0, WIDE), "ours, half a year later": (embedder, DECAYED_DAYS, WIDE),
                "ours, decay off": (embedder, 0, NO_DECAY),
            }  # fmt: skip
        for way, (means, days, settings) in ways.items():
            recall, now = MemoryRecall(book, settings, means), clock.now() + timedelta(days=days)
            found[way] = []
            for asked in questions:
                which = MemoryFilter(since=asked.since, until=asked.until)
                hits = (await recall.search(asked.text, which, now=now, top=20)).hits
                found[way].append([number_of[hit.record.memory_id] for hit in hits])
        given = await _given(book, clock, questions, number_of, embedder)
    finally:
        await store.close()
    told = scored(found, questions)
    best = "ours" if embedder is not None else "ours, words"
    on = min(told[best]["recall_10"], told[f"{best}, half a year later"]["recall_10"])
    loss = told[f"{best}, decay off"]["recall_10"] - on
    return {
        "sentences": sentences, "questions": len(questions), "embedder": None if local is None else local.name,
        "ways": told, "decay_loss_recall_10": round(loss, 4), "given": given,
        "best_at_5": max(told, key=lambda way: (told[way]["recall_5"], way == best)),
    }  # fmt: skip


async def _given(
    book: MemoryBook, clock: HandClock, questions: Sequence[Question], number_of: Mapping[str, int],
    means: Embedder | None,
) -> dict[str, Any]:  # fmt: skip
    """Return what a search gives at its settings, and how many it would take to cover as much without them.

    Without: decay off, nothing left out for being too far from the best or for saying the same, no limit of tokens.
    """

    async def given(recall: MemoryRecall, top: int | None) -> list[list[int]]:
        found = []
        for asked in questions:
            which = MemoryFilter(since=asked.since, until=asked.until)
            hits = (await recall.search(asked.text, which, now=clock.now(), top=top)).hits
            found.append([number_of[hit.record.memory_id] for hit in hits])
        return found

    ours = await given(MemoryRecall(book, MemorySettings(), means), None)
    wide = MemorySettings(recalled=_MOST, shown_tokens=100_000, relevance_least=0.0, decay_floor=1.0)
    without = await given(MemoryRecall(book, wide, means), _MOST)
    told = {"as it is": _injected(ours, questions)}
    for most in range(1, _MOST + 1):
        cut = _injected([found[:most] for found in without], questions)
        if cut["covered"] >= told["as it is"]["covered"] or most == _MOST:
            told["without decay and filters, as much covered"] = cut
            break
    return told


def _injected(found: Sequence[Sequence[int]], questions: Sequence[Question]) -> dict[str, float]:
    """Return records for each question, which part of them is evidence, and which part of the questions has some."""
    size = sum(map(len, found))
    right = [len(set(numbers) & set(asked.evidence)) for numbers, asked in zip(found, questions, strict=True)]
    return {
        "records": round(size / len(questions), 2), "needed": round(sum(right) / max(size, 1), 4),
        "covered": round(sum(map(bool, right)) / len(questions), 4),
    }  # fmt: skip


def _plain(said: Sequence[Said], questions: Sequence[Question]) -> list[list[int]]:
    """Rank by BM25 over lower-case words, k1 = 1.2 and b = 0.75, with the same filter of time."""
    texts = [each.text.lower().replace(".", " ").replace(",", " ").split() for each in said]
    usual = sum(map(len, texts)) / len(texts)
    documents = Counter(word for text in texts for word in set(text))
    ranks = []
    for asked in questions:
        words = asked.text.lower().replace("?", " ").split()
        scores: dict[int, float] = {}
        for number, text in enumerate(texts):
            if not _in_time(said[number], asked):
                continue
            score = 0.0
            for word in words:
                often = text.count(word)
                if often:
                    rare = math.log(1 + (len(texts) - documents[word] + 0.5) / (documents[word] + 0.5))
                    score += rare * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(text) / usual))
            if score:
                scores[number] = score
        ranks.append(sorted(scores, key=lambda number: (-scores[number], number))[:20])
    return ranks


def _newest(said: Sequence[Said], asked: Question) -> list[int]:
    return [number for number in range(len(said) - 1, -1, -1) if _in_time(said[number], asked)][:20]


async def _by_vectors(said: Sequence[Said], questions: Sequence[Question], embedder: Embedder) -> list[list[int]]:
    import numpy as np

    rows = np.asarray(await embedder.embed_passages([each.text for each in said]))
    asked = np.asarray(await embedder.embed_queries([each.text for each in questions]))
    ranks = []
    for number, question in enumerate(questions):
        near = rows @ asked[number]
        near[[not _in_time(each, question) for each in said]] = -2
        ranks.append([int(at) for at in np.argsort(-near, kind="stable")[:20]])
    return ranks


def _in_time(said: Said, asked: Question) -> bool:
    day = said.at.replace(hour=9, minute=0)
    return (asked.since is None or day >= asked.since) and (asked.until is None or day < asked.until)


class _Random:
    """Vectors that cost what true ones do to compare, and nothing to make."""

    name = "random-384"

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one for each text."""
        import numpy as np

        made = np.random.default_rng(len(texts)).standard_normal((len(texts), 384)).astype(np.float32)
        return list(made / np.linalg.norm(made, axis=1, keepdims=True))

    embed_passages = embed_queries


async def scale(records: int, folder: Path, queries: int = 200) -> dict[str, Any]:
    """Measure searches among so many records of twenty words, words as unevenly common as in a language."""
    clock, home, chance = HandClock(), Path(tempfile.mkdtemp(dir=folder)), random.Random(5)

    def text(words: int) -> str:
        return " ".join(f"w{int(20_000 * chance.random() ** 4)}" for _ in range(words))

    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock)
    try:
        book = MemoryBook(store, ORGANISATION, clock=clock, settings=MemorySettings())
        for start in range(0, records, 5_000):
            many = [
                MemoryDraft(text(20), MemoryKind.SEMANTIC, MemoryClass.FACT, HOLDER)
                for _ in range(min(5_000, records - start))
            ]
            await book.add_many(many, by="bench")
        await book.count()
        recall = MemoryRecall(book, MemorySettings(), _Random())
        before, begun = _resident(), time.perf_counter()
        await recall.search("w1 w2", MemoryFilter(), now=clock.now())
        first, taken = time.perf_counter() - begun, []
        for _ in range(queries):
            asked = text(8)
            begun = time.perf_counter()
            await recall.search(asked, MemoryFilter(), now=clock.now())
            taken.append((time.perf_counter() - begun) * 1_000)
    finally:
        await store.close()
    taken.sort()
    return {
        "records": records, "ms_p50": round(taken[queries // 2], 2), "ms_p95": round(taken[queries * 95 // 100], 2),
        "first_s": round(first, 1), "mib": round(_resident() - before),
    }  # fmt: skip


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4_096 / 2**20


async def measure(sentences: Sequence[int], sizes: Sequence[int], parts: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return all parts that are asked for."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if "retrieval" in parts:
            found["retrieval"] = [await retrieval(count, Path(scratch)) for count in sentences]
        if "stream" in parts:
            found["stream"] = await stream(Path(scratch))
        if "whole" in parts:
            found["whole"] = await whole(Path(scratch))
        if "people" in parts:
            found["people"] = await people(Path(scratch))
        if "scale" in parts:
            found["scale"] = [await scale(count, Path(scratch)) for count in sizes]
    return found


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return what was measured as lines."""
    told = []
    for one in found.get("retrieval", ()):
        told.append(f"{one['sentences']:,} sentences, {one['questions']} questions, best at 5: {one['best_at_5']}")
        told += [
            f"  {way:24} R@5 {of['recall_5']:.3f}  R@10 {of['recall_10']:.3f}  R@20 {of['recall_20']:.3f}"
            f"  MRR {of['mrr']:.3f}  {of['recall_5_by_kind']}"
            for way, of in one["ways"].items()
        ]
        told.append(f"  decay on takes {one['decay_loss_recall_10']:.4f} of recall@10; given: {one['given']}")
    if "stream" in found:
        told.append(f"stream: {found['stream']}")
    told += [f"{part}: {found[part]}" for part in ("whole", "people") if part in found]
    told += [
        f"{one['records']:,} records: {one['ms_p50']} ms, p95 {one['ms_p95']} ms, first {one['first_s']} s, "
        f"{one['mib']} MiB"
        for one in found.get("scale", ())
    ]
    return told


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--sentences", type=int, nargs="+", default=[1_000, 4_000])
    arguments.add_argument("--scale", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--parts", nargs="+", default=["retrieval", "stream", "whole", "people", "scale"])
    given = arguments.parse_args()
    folder = (given.folder or [Path("/dev/shm")])[0]
    found = asyncio.run(measure(given.sentences, given.scale, given.parts, folder))
    show({"machine": machine(), **found}, lines, as_json=given.json)


if __name__ == "__main__":
    main()
