"""The two processes of `bench/context.py`: 30 and 60 steps, what their tools give, and the facts planted in them.

All of it is made from one seed, with nothing but `random.Random`, so that every machine makes the same bytes. What the
tools give is large and is written to `bench/data/context` when it is not there; `bench/data/context.tsv` keeps size and
hash of each result, and what was made is held against it.

    python bench/context_process.py --write      # write the index anew, after a change of the generator
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from context_texts import FACTS, KINDS, TASKS, value_of

DATA = Path(__file__).parent / "data"
SEED = 20_261_130
LENGTHS = (30, 60)
FACTS_PLANTED = 200
LEAST, MOST = 200, 60_000
"""Characters of a result."""


@dataclass(frozen=True)
class Fact:
    """Something that is needed later: `subject` is what somebody would look for, `text` what has to be found."""

    subject: str
    text: str
    kind: str
    channel: str
    """`result`, `insight` or `answer`: where it stands."""
    step: int


@dataclass(frozen=True)
class Call:
    tool: str
    key: str
    """The argument; which result it is."""
    value: Any


@dataclass(frozen=True)
class Process:
    """What happens, whoever carries it out: turns of calls in each step, what is noted, and the answer."""

    steps: tuple[Stage, ...]
    facts: tuple[Fact, ...]

    def results(self) -> dict[str, Any]:
        """Return key → what the tool gives for it."""
        return {call.key: call.value for stage in self.steps for turn in stage.turns for call in turn}


@dataclass(frozen=True)
class Stage:
    id: str
    task: str
    turns: tuple[tuple[Call, ...], ...]
    reads: tuple[str, ...]
    """Steps whose `finding` it is given."""
    data_of: str | None
    """Step whose `data` it is given, whole."""
    insight: str | None
    finding: str

    @property
    def tools(self) -> list[str]:
        return sorted({call.tool for turn in self.turns for call in turn})


def process(length: int) -> Process:
    """Return the process of that many steps."""
    random = Random(f"{SEED}/{length}")
    facts = list(_facts(random, length))
    planned = [_shape(random) for _ in range(length)]
    planned[-1] = planned[2]  # the last step works on as much as the third, so that the two can be compared
    stages = [_stage(random, number, length, planned[number - 1], facts) for number in range(1, length + 1)]
    return Process(tuple(stages), tuple(facts))


def _shape(random: Random) -> list[list[tuple[str, int]]]:
    """Return the calls of each turn of a step: kind and characters. Sizes are as often small as large, by their log."""
    sizes = [round(math.exp(random.uniform(math.log(LEAST), math.log(MOST)))) for _ in range(random.choice((1, 2, 3)))]
    calls = [(random.choice(KINDS), size) for size in sizes]
    return [calls[:1], calls[1:]] if len(calls) > 1 and random.random() < 0.5 else [calls]


def _stage(
    random: Random, number: int, length: int, shape: Sequence[Sequence[tuple[str, int]]], facts: Sequence[Fact]
) -> Stage:
    mine = [fact for fact in facts if fact.step == number]
    planted = iter(_dealt([fact for fact in mine if fact.channel == "result"], sum(map(len, shape))))
    place = 0
    turns = []
    for turn in shape:
        calls = []
        for kind, size in turn:
            place += 1
            key = f"{number:02}-{place}"
            value = value_of(kind, size, Random(f"{SEED}/{length}/{key}"), [fact.text for fact in next(planted)])
            calls.append(Call(kind, key, value))
        turns.append(tuple(calls))
    noted = [fact.text for fact in mine if fact.channel == "insight"]
    said = [fact.text for fact in mine if fact.channel == "answer"]
    task = TASKS[(number - 1) % len(TASKS)]
    return Stage(
        id=_id(number),
        task=task,
        turns=tuple(turns),
        reads=tuple(map(_id, _read_by(number, length))),
        data_of=_id(number - 2) if number % 3 == 0 else None,
        insight=" ".join(noted) or (f"Stage {number} is settled; nothing odd was left over." if number % 5 else None),
        finding=" ".join([f"Stage {number}: {task}", *said, "Everything else is as expected."]),
    )


def _read_by(number: int, length: int) -> Iterator[int]:
    """Yield the steps that a step reads: the one before, one of long ago, and the last the end of each phase."""
    if number > 1:
        yield number - 1
    if number > 10:
        yield number - 10
    if number == length:
        yield from range(10, length - 10, 10)


def _facts(random: Random, length: int) -> Iterator[Fact]:
    """Yield half of the facts for results, a quarter each for what is noted and for answers, all before the last step.

    Every fifth step notes nothing.
    """
    for number in range(FACTS_PLANTED):
        channel = ("result", "insight", "result", "answer")[number % 4]
        step = random.randrange(1, length)
        while channel == "insight" and step % 5 == 0:
            step = random.randrange(1, length)
        subject, text, kind = FACTS[number % len(FACTS)](random, number)
        yield Fact(subject, text, kind, channel, step)


def _dealt(facts: Sequence[Fact], hands: int) -> list[list[Fact]]:
    return [list(facts[hand::hands]) for hand in range(hands)]


def _id(number: int) -> str:
    return f"s{number:02}"


def written(length: int) -> Process:
    """Return the process with its results as they lie in `bench/data/context`, made there when they are not.

    Raises:
        SystemExit: they are not those of the index.
    """
    made, file = process(length), DATA / "context" / f"{length}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made.results(), ensure_ascii=False))
    there: Mapping[str, Any] = json.loads(file.read_text())
    with (DATA / "context.tsv").open(encoding="utf-8", newline="") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["steps"] == str(length)]
    other = [row["result"] for row in rows if row["sha256"] != _sha256(there.get(row["result"]))]
    if other or len(rows) != len(there) or there != made.results():
        raise SystemExit(f"{file} is not what bench/data/context.tsv says ({other[:3]}). Remove it to have it made.")
    return made


def index() -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the index."""
    for length in LENGTHS:
        for stage in process(length).steps:
            for turn in stage.turns:
                yield from (
                    (length, call.key, call.tool, len(text_of(call.value)), _sha256(call.value)) for call in turn
                )


def text_of(value: Any) -> str:
    """Return the JSON text of a value, as compact as a plain program would write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sha256(value: Any) -> str:
    return hashlib.sha256(text_of(value).encode()).hexdigest()


def main() -> None:
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    with (DATA / "context.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("steps", "result", "tool", "characters", "sha256"))
        writer.writerows(index())


if __name__ == "__main__":
    main()
