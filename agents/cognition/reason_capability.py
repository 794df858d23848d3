"""The capability `attribute`: what an excess is due to, as a finding that a plan, a report and a card can use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from agents.cognition.attribute_spec import SPEC
from agents.cognition.reason import Attribution, Design, History, Thresholds, Verdict, attribute
from contracts import Confidence, Finding, FindingId, Json
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import InvalidArguments
from runtime.ledger.port import NewEvent
from runtime.texts import Say

_TEXT_OF = {
    Verdict.CONDITION: "finding-explained",
    Verdict.SLICE: "finding-slice",
    Verdict.NOT_EXPLAINED: "finding-not-explained",
    Verdict.NOTHING_UNUSUAL: "finding-nothing-unusual",
    Verdict.INCONCLUSIVE: "finding-inconclusive",
}


class AttributeCapability:
    """Attributes; `say_in` gives the catalogue of a language, from which the statement is written."""

    spec = SPEC

    def __init__(self, say_in: Callable[[str], Say]) -> None:
        self._say_in = say_in

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Judge the period, and tell it as a finding."""
        found = await asyncio.to_thread(_attribute, arguments)
        word = _word(found.verdict, arguments.get("words"))
        statement = _statement(found, self._say_in(context.order.language), arguments.get("names"), context)
        numbers = clean({**asdict(found), "rate": found.hits / found.n if found.n else None})
        if not isinstance(numbers, dict):
            raise TypeError("An attribution is an object.")
        output = {**numbers, "verdict": word, "statement": statement, "confidence": found.confidence.value}
        finding = Finding(
            finding_id=FindingId.new(),
            execution_id=context.order.execution_id,
            order_id=context.order.order_id,
            verdict=word,
            statement=statement,
            confidence=Confidence(found.confidence.value),
            statistics=numbers,
            sources=_sources(context),
        )
        return CallResult(output, events=(NewEvent("finding.made", {"finding": finding.to_json()}),))


def _attribute(arguments: Mapping[str, Json]) -> Attribution:
    try:
        rows: Any = arguments["rows"]
        return attribute(rows, _history(arguments), _design(arguments), _thresholds(arguments.get("thresholds")))
    except KeyError as error:
        raise InvalidArguments(
            f"A row has no field {error}; every cell needs n, hits, condition and its keys."
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidArguments(f"The counts cannot be used: {error}.") from None


def _history(arguments: Mapping[str, Json]) -> History:
    history: Any = arguments["history"]
    odds: Any = arguments["usual_odds"]
    return History(
        periods=int(history["periods"]),
        usual_rate=float(history["usual_rate"]),
        usual_odds={
            (str(row["dimension"]), str(row["value"])): (float(row["usual_odds"]), int(row["periods"])) for row in odds
        },
    )


def _design(arguments: Mapping[str, Json]) -> Design:
    slices: Any = arguments["slices"]
    return Design(
        slices={str(name): tuple(map(str, strata)) for name, strata in slices.items()},
        condition_site=str(arguments["site"]),
    )


def _thresholds(given: Json) -> Thresholds:
    if given is None:
        return Thresholds()
    known = [field.name for field in fields(Thresholds)]
    unknown = [name for name in given if name not in known] if isinstance(given, dict) else [str(given)]
    if unknown or not isinstance(given, dict):
        raise InvalidArguments(f"There is no threshold {', '.join(unknown)}; there is: {', '.join(known)}.")
    numbers: dict[str, Any] = dict(given)
    return Thresholds(**numbers)


def _word(verdict: Verdict, words: Json) -> str:
    return str(words.get(verdict.value, verdict.value)) if isinstance(words, dict) else verdict.value


def _statement(found: Attribution, say: Say, names: Json, context: CallContext) -> str:
    """Return the answer in a sentence of the order's language."""
    given = names if isinstance(names, dict) else {}

    def name_of(key: str, default: str) -> str:
        text = given.get(key, default)
        if isinstance(text, dict):
            text = text.get(context.order.language, text.get("en", default))
        return str(text)

    nouns = {key: name_of(key, say(f"finding-{key}")) for key in ("unit", "hit", "condition")}
    return say(_TEXT_OF[found.verdict], **nouns, **_facts(found, name_of))


def _facts(found: Attribution, name_of: Callable[[str, str], str]) -> dict[str, object]:
    """Return what the statement may name."""
    return {
        "n": found.n,
        "hits": found.hits,
        "rate": _percent(found.hits / found.n if found.n else 0.0),
        "usual": _percent(found.usual_rate),
        "excess": round(found.excess),
        "causes": ", ".join(
            f"{name_of(cause.dimension, cause.dimension)} {cause.value} ({cause.hits} / {cause.n})"
            for cause in found.causes
        ),
        "also": "; ".join(
            f"{name_of(other.dimension, other.dimension)} {other.value} ({other.hits} / {other.n})"
            for other in found.also
        ),
        "beside": len(found.also),
        "share": _whole_percent(found.condition.share) if found.condition else "",
        "sites": ", ".join(site.site for site in found.condition.sites) if found.condition else "",
    }


def _whole_percent(share: float) -> str:
    return f"{100 * min(share, 1.0):.0f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sources(context: CallContext) -> tuple[str, ...]:
    hashes = [origin.data_sha256 or origin.result_sha256 for origin in context.origins.values()]
    return tuple(dict.fromkeys(hashes))
