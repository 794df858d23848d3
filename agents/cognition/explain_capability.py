"""The capability `explain`: reads a metric as known at a moment, judges it by statistics, and says it in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import fields

from agents.cognition.explain import Thresholds, explain
from agents.cognition.explain.reading import Asked, MetricReader
from agents.cognition.explain.telling import statement_of, to_output
from agents.cognition.explain_spec import SPEC, WORDS_SPEC
from contracts import Confidence, Finding, FindingId, Grain, Json
from memory.metrics import MetricRegistry
from runtime.canonical import sha256
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import InvalidArguments
from runtime.ledger.port import NewEvent
from runtime.spoken_numbers import require_known
from runtime.texts import Say

_MOST_LAGS = 48


class ExplainCapability:
    """Explains metrics of one organisation; `say_in` gives the catalogue of a language for the statement."""

    spec = SPEC

    def __init__(self, registry: MetricRegistry, say_in: Callable[[str], Say]) -> None:
        self._reader = MetricReader(registry)
        self._say_in = say_in

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Read, judge, and tell it as a finding; the words hold no number that the output does not."""
        asked, thresholds = _asked(arguments), _thresholds(arguments.get("thresholds"))
        read = await self._reader.read(asked, context.known_at)
        found = await asyncio.to_thread(explain, read.question, thresholds)
        output = to_output(found, read, thresholds)
        statement = statement_of(output, read, self._say_in(context.order.language), context.order.language)
        require_known(statement, output, read.names(context.order.language))
        finding = Finding(
            finding_id=FindingId.new(),
            execution_id=context.order.execution_id,
            order_id=context.order.order_id,
            verdict=found.verdict.value,
            statement=statement,
            confidence=Confidence(found.confidence.value),
            statistics={name: value for name, value in output.items() if name != "series"},
            sources=tuple(dict.fromkeys((read.data_sha256, read.query_sha256))),
        )
        return CallResult(
            {**output, "statement": statement},
            events=(NewEvent("finding.made", {"finding": finding.to_json()}),),
            query_sha256=read.query_sha256,
            data_sha256=read.data_sha256,
        )


class WordFinding:
    """Takes a model's words about a finding only when each of their numbers stands in it."""

    spec = WORDS_SPEC

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the words; raise NumberInvented with the numbers that the statistics did not give."""
        text, finding = str(arguments["text"]), arguments.get("finding")
        require_known(text, finding, context.order.objective)
        label = finding.get("confidence") if isinstance(finding, dict) else None
        return CallResult({"text": text, "confidence": label}, query_sha256=sha256(finding))


def _asked(arguments: Mapping[str, Json]) -> Asked:
    where, by, others = arguments.get("where"), arguments.get("by"), arguments.get("with")
    return Asked(
        metric=str(arguments["metric"]),
        grain=Grain(str(arguments["grain"])),
        period=None if arguments.get("period") is None else str(arguments["period"]),
        where=where if isinstance(where, dict) else {},
        by=tuple(map(str, by)) if isinstance(by, list) else None,
        others=tuple(map(str, others)) if isinstance(others, list) else (),
        compare=str(arguments.get("compare") or "usual"),
        last=_count(arguments, "last", None, 2_000),
        lags=_count(arguments, "lags", 2, _MOST_LAGS) or 0,
        at_least=_count(arguments, "at_least", 1, 1_000_000_000) or 0,
    )


def _count(arguments: Mapping[str, Json], name: str, default: int | None, most: int) -> int | None:
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise InvalidArguments(f"`{name}` is a whole number from 0 to {most:,}, not {value!r}.", **{name: value})


def _thresholds(given: Json) -> Thresholds:
    if given is None:
        return Thresholds()
    known = {field.name for field in fields(Thresholds)}
    if not isinstance(given, dict) or not given.keys() <= known:
        unknown = ", ".join(sorted(set(given) - known)) if isinstance(given, dict) else repr(given)
        raise InvalidArguments(f"There is no threshold {unknown}; there is: {', '.join(sorted(known))}.")
    odd = [name for name, value in given.items() if isinstance(value, bool) or not isinstance(value, int | float)]
    if odd:
        raise InvalidArguments(f"The threshold {', '.join(odd)} is a number.")
    numbers: dict[str, float] = {name: value for name, value in given.items() if isinstance(value, int | float)}
    whole = {"min_history", "long_history", "min_units", "most_causes", "min_pairs", "season_repeats", "segment",
             "shuffles"}  # fmt: skip
    return Thresholds(**{name: int(value) if name in whole else value for name, value in numbers.items()})  # type: ignore[arg-type]
