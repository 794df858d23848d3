"""`silicon metrics`: what an organisation measures, and the values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from console.cli.exits import Exit
from console.cli.form import to_data
from console.cli.options import AsJson, At, Language, Organisation, command, moment, pairs
from console.cli.render.facts import Pair, facts, table
from console.cli.render.metric_versions import SHOWN, version_lines
from console.cli.session import Session, conduct
from console.cli.words import NO_BREAK, in_language
from console.cli.words import moment as moment_text
from console.ports import Application
from console.views import MetricReading
from contracts import MetricDefinition
from runtime.texts import Say

app = command("List metrics, show their definitions and values.")
Metric = Annotated[str, typer.Argument(metavar="METRIC", help="The metric's name.")]


@app.command("list")
def list_(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """List the metrics of an organisation."""

    async def work(session: Session, application: Application) -> int:
        metrics = await application.metrics(Path(organisation))
        session.output.data({"metrics": metrics})
        say = session.say
        if not metrics:
            session.output.show(say("metrics-none"))
            return Exit.DONE
        headings = [say(f"metrics-{name}") for name in ("name", "title", "unit", "grains", "dimensions")]
        rows = [
            [
                each.name,
                in_language(each.title, session.output.language),
                each.unit,
                ", ".join(each.grains),
                ", ".join(each.dimensions),
            ]
            for each in metrics
        ]
        session.output.show(table(headings, rows))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(organisation: Organisation, metric: Metric, language: Language = None, as_json: AsJson = False) -> None:
    """Show the definition of a metric."""

    async def work(session: Session, application: Application) -> int:
        shown = await application.metric(Path(organisation), metric)
        found = shown.definition
        stands = {name: value for name, value in to_data(shown).items() if name != "definition"}
        session.output.data({**to_data(found), "stands": stands})
        say, words = session.say, session.output.language
        session.output.show(
            Text.assemble((found.name, "bold"), "  ", in_language(found.title, words)),
            facts(
                _capitals(
                    [
                        (say("metrics-meaning"), in_language(found.description, words)),
                        (say("metrics-unit"), found.unit),
                        (say("metrics-value"), _formula(found)),
                        *_read_from(found, say),
                        (say("metrics-grains"), ", ".join(found.grains)),
                        (say("metrics-dimensions"), ", ".join(found.dimensions)),
                        (say("metrics-good"), say(f"direction-{found.good.value}")),
                        (say("metrics-owner"), found.owner),
                        (say("metrics-watched-by"), ", ".join(shown.sensors) or say("metrics-nobody")),
                        (say("metrics-version"), f"{shown.version[:SHOWN]} ({shown.versions})"),
                        (say("metrics-in-force"), f"{moment_text(shown.in_force_since)}, {shown.read_by}"),
                        *([(say("metrics-freshness"), _span(found.freshness_s))] if found.freshness_s else []),
                    ]
                )
            ),
        )
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def value(
    organisation: Organisation,
    metric: Metric,
    *,
    grain: Annotated[str | None, typer.Option(metavar="hour|day|week|month", help="The period.")] = None,
    at: At = None,
    bucket: Annotated[str | None, typer.Option(metavar="PERIOD", help="One period: 2013-02-08.")] = None,
    where: Annotated[list[str] | None, typer.Option(metavar="DIMENSION=VALUE", help="One slice; repeatable.")] = None,
    by: Annotated[list[str] | None, typer.Option(metavar="DIMENSION", help="A value for each slice.")] = None,
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many periods, without --bucket.")] = 7,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show values of a metric. Missing, zero and not yet known are three different things."""

    async def work(session: Session, application: Application) -> int:
        slices = pairs("--where", where)
        readings = await application.metric_values(
            Path(organisation), metric, grain=grain, at=moment(at), bucket=bucket, where=slices, by=by or (), last=last
        )
        session.output.data({"metric": metric, "values": readings})
        if not readings:
            session.output.show(session.say("metrics-no-values"))
        else:
            session.output.show(_values(readings, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def history(
    organisation: Organisation,
    metric: Metric,
    *,
    versions: Annotated[bool, typer.Option("--versions", help="The definition's own history.")] = False,
    grain: Annotated[str | None, typer.Option(metavar="hour|day|week|month", help="The period.")] = None,
    at: At = None,
    where: Annotated[list[str] | None, typer.Option(metavar="DIMENSION=VALUE", help="One slice; repeatable.")] = None,
    by: Annotated[list[str] | None, typer.Option(metavar="DIMENSION", help="A value for each slice.")] = None,
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many periods.")] = 30,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show how a metric went, or with --versions its definition."""

    async def work(session: Session, application: Application) -> int:
        output = session.output
        if versions:
            found = await application.metric_versions(Path(organisation), metric)
            output.data({"metric": metric, "versions": found})
            output.show(*version_lines(found, session.say))
            return Exit.DONE
        slices = pairs("--where", where)
        readings = await application.metric_values(
            Path(organisation), metric, grain=grain, at=moment(at), bucket=None, where=slices, by=by or (), last=last
        )
        output.data({"metric": metric, "values": readings})
        output.show(_values(readings, session.say) if readings else session.say("metrics-no-values"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _span(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds % length == 0:
            return f"{seconds / length:g}{NO_BREAK}{unit}"
    return f"{seconds:g}{NO_BREAK}s"


def _formula(metric: MetricDefinition) -> str:
    if metric.ratio is not None:
        return f"{metric.ratio.of} / {metric.ratio.to}"
    if metric.window is not None:
        return f"{metric.window.combine} of the last {metric.window.last} of {metric.window.of}"
    if metric.python is not None:
        return f"{metric.python.file}: value({', '.join(f'{name}={sql}' for name, sql in metric.takes.items())})"
    return metric.value


def _read_from(metric: MetricDefinition, say: Say) -> list[Pair]:
    if metric.source is None:
        return []
    read = f"{metric.source}: {metric.over} where {metric.where}"
    return [(say("metrics-rests-on"), metric.n), (say("metrics-over"), read)]


def _values(readings: Sequence[MetricReading], say: Say) -> RenderableType:
    dimensions = list(readings[0].dimensions)
    headings = [say("metrics-period"), *dimensions, say("metrics-value"), say("metrics-n")]
    rows: list[list[str | Text]] = []
    for reading in readings:
        shown: str | Text = f"{reading.value:.6g}" if reading.value is not None else ""
        if reading.state != "value" or reading.value is None:
            shown = Text(say(f"metrics-{reading.state.replace('_', '-')}"), style="dim")
        slices = [str(reading.dimensions[name]) for name in dimensions]
        rows.append([reading.bucket, *slices, shown, "" if reading.n is None else str(reading.n)])
    return table(headings, rows, right=(len(headings) - 2, len(headings) - 1))


def _capitals(pairs: Sequence[Pair]) -> list[Pair]:
    return [(label[:1].upper() + label[1:], value) for label, value in pairs]
