"""An explanation as data, and as a sentence made from that data alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from agents.cognition.explain.contribution import Part, Split
from agents.cognition.explain.explanation import Explanation, Verdict
from agents.cognition.explain.measured import Measured, State
from agents.cognition.explain.reading import Read, in_language
from agents.cognition.explain.series import is_share
from agents.cognition.explain.thresholds import Thresholds
from contracts import Json
from runtime.canonical import clean
from runtime.texts import Say

_DIGITS = 9
"""Decimals of every number that is given: enough to compute with, few enough to be the same everywhere."""
_MOST_PARTS = 20
"""Slices of one dimension that are listed, the largest contribution first; the rest are counted."""
CORRECTION = "Holm, over all tests of a family: slices of all dimensions; lags of all metrics; change points"

_TEXT_OF: Mapping[Verdict, str] = {
    Verdict.SLICE: "explain-slice",
    Verdict.DRIVER: "explain-driver",
    Verdict.MIX: "explain-mix",
    Verdict.BROAD: "explain-broad",
    Verdict.USUAL: "explain-usual",
    Verdict.INCONCLUSIVE: "explain-inconclusive",
    Verdict.NO_VALUE: "explain-no-value",
}


def to_output(found: Explanation, read: Read, thresholds: Thresholds) -> dict[str, Json]:
    """Return everything the statistics gave, in the metric's unit, so that each number can be worked out again."""
    whole = read.question.whole
    now, usual = whole[-1], found.usual
    excess = None if usual is None or now.value is None else now.value - usual.value
    rows = excess * now.n if excess is not None and is_share(whole) else None
    output = {
        "verdict": found.verdict.value,
        "confidence": found.confidence.value,
        "metric": read.asked.metric,
        "unit": read.metric.unit,
        "version": read.version,
        "grain": read.asked.grain.value,
        "where": dict(read.asked.where),
        "period": now.period,
        "value": now.value,
        "n": now.n,
        "over": now.over,
        "unusual": found.unusual.state is State.FOUND,
        "usual": None if usual is None else {**asdict(usual), "level": thresholds.level},
        "excess": excess,
        "excess_rows": rows,
        "dimension": found.dimension,
        "causes": [_part(part, _split_of(found)) for part in found.causes],
        "driver": None if found.driver is None else _measured(found.driver, read),
        "rest": None if found.rest is None else _measured(found.rest, read),
        "next": _next(found, read, thresholds),
        "changes": [_measured(each, read) for each in found.changes],
        "splits": [_split(each, read) for each in found.splits],
        "correlations": [_measured(each, read) for each in found.correlations],
        "change_points": [_measured(each, read) for each in found.change_points],
        "checks": [
            {"name": c.name, "passed": c.passed, "is": c.is_, "needs": c.needs, "vital": c.vital} for c in found.checks
        ],
        "correction": CORRECTION,
        "tested": {"alpha": thresholds.alpha, "tests": len(found.measured())},
        "anomaly": _measured(found.unusual, read),
        "series": [{"period": p.period, "value": p.value, "n": p.n} for p in whole],
        "known_at": read.known_at.isoformat(),
    }  # fmt: skip
    cleaned = _rounded(clean(output))
    assert isinstance(cleaned, dict)
    return cleaned


def statement_of(output: Mapping[str, Json], read: Read, say: Say, language: str) -> str:
    """Return the answer in a sentence; every number of it stands in `output`."""
    unit = read.metric.unit
    usual, driver = output["usual"], output["driver"]
    facts: dict[str, object] = {
        "metric": in_language(read.metric.title, language),
        "period": str(output["period"]),
        "value": _shown(output["value"], unit),
        "usual": _shown(usual["value"], unit) if isinstance(usual, dict) else "",
        "low": _shown(usual["low"], unit) if isinstance(usual, dict) else "",
        "high": _shown(usual["high"], unit) if isinstance(usual, dict) else "",
        "history": str(usual["n"]) if isinstance(usual, dict) else "0",
        "dimension": str(output["dimension"] or ""),
        "causes": ", ".join(_cause(each, unit) for each in _items(output["causes"])),
        "driver": in_language(read.titles[str(driver["about"])], language) if isinstance(driver, dict) else "",
        "correlation": f"{float(str(driver['effect'])):.2f}" if isinstance(driver, dict) else "",
        "lag": driver["facts"]["lag"] if isinstance(driver, dict) else 0,  # type: ignore[index,call-overload]
        "tests": str(output["tested"]["tests"]),  # type: ignore[index,call-overload]
        "why": say(f"explain-why-{str(_why(output)).replace('_', '-')}"),
    }
    verdict = next(each for each in Verdict if each.value == output["verdict"])
    awaited = verdict is Verdict.NO_VALUE and not output["over"]
    sentence = say("explain-not-arrived" if awaited else _TEXT_OF[verdict], **facts)
    beside = _beside(output, unit) if verdict in (Verdict.USUAL, Verdict.BROAD, Verdict.DRIVER) else ""
    return f"{sentence} {say('explain-beside', slices=beside)}" if beside else sentence


def _next(found: Explanation, read: Read, thresholds: Thresholds) -> Json:
    """Return what the coming period is expected to change by: back to what is usual, within the usual range."""
    now, usual = read.question.whole[-1], found.usual
    if usual is None or now.value is None or found.unusual.state is State.INCONCLUSIVE:
        return None
    return clean(
        {
            "metric": read.asked.metric, "grain": read.asked.grain.value, "where": dict(read.asked.where),
            "period": read.next_period, "baseline": now.value, "change": usual.value - now.value,
            "low": usual.low - now.value, "high": usual.high - now.value, "level": thresholds.level,
        }
    )  # fmt: skip


def _measured(each: Measured, read: Read) -> dict[str, Json]:
    told = clean(
        {
            **asdict(each), "state": each.state.value, "query_sha256": read.query_sha256,
            "data_sha256": read.data_sha256,
        }
    )  # fmt: skip
    assert isinstance(told, dict)
    return told


def _split(each: Split, read: Read) -> Json:
    found = [one for one in each.stands_out if one.state is State.FOUND]
    return clean(
        {
            "dimension": each.dimension, "state": each.state.value, "how": each.how, "why": each.why,
            "before": each.before, "now": each.now, "change": each.change, "rate": each.rate, "mix": each.mix,
            "simpson": each.reversed, "parts": [_part(part, each) for part in each.parts[:_MOST_PARTS]],
            "parts_left": max(len(each.parts) - _MOST_PARTS, 0), "tried": len(each.stands_out),
            "stands_out": [_measured(one, read) for one in found],
        }
    )  # fmt: skip


def _part(part: Part, of: Split | None) -> dict[str, Json]:
    share = part.contribution / of.change if of is not None and of.change else None
    told = clean({**asdict(part), "contribution": part.contribution, "share": share})
    assert isinstance(told, dict)
    return told


def _split_of(found: Explanation) -> Split | None:
    return next((each for each in found.splits if each.dimension == found.dimension), None)


def _beside(output: Mapping[str, Json], unit: str) -> str:
    """Return the slices that stand out and are not named as a cause."""
    tests = [one for each in _items(output["splits"]) for one in _items(each["stands_out"])]
    tests.sort(key=lambda one: -abs(float(str(one["facts"]["contribution"]))))  # type: ignore[index,call-overload]
    return ", ".join(
        f"{one['about']} ({_shown(one['facts']['now'], unit)})"  # type: ignore[index,call-overload]
        for one in tests[:3]
    )


def _cause(each: Mapping[str, Json], unit: str) -> str:
    share = each["share"]
    part = f", {100 * float(str(share)):.0f} %" if share is not None else ""
    return f"{each['value']} ({_shown(each['now'], unit)}{part})"


def _why(output: Mapping[str, Json]) -> Json:
    anomaly = output["anomaly"]
    return (anomaly.get("why") if isinstance(anomaly, dict) else None) or "found"


def _items(value: Json) -> list[dict[str, Json]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _shown(value: Json, unit: str) -> str:
    """Return a value as people read it in its unit; a share as per cent."""
    if not isinstance(value, int | float):
        return "–"
    if unit == "share":
        return f"{100 * value:.1f} %"
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return f"{text} {unit}"


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, _DIGITS) if abs(value) > 1e-6 else value
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value
