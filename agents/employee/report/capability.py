"""The capability `report`: fills a template so that every number leads to the step it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.employee.report.chart import Charts
from agents.employee.report.sources import Page
from agents.employee.report.table import table_for
from agents.employee.report.template import fill
from agents.employee.report.traced import plain, trace
from contracts import Artifact, DataProduct, Effect, Json, Parameter, ProductId, SourceLink, Tier, ValueType
from runtime.bindings import is_file
from runtime.canonical import clean, sha256
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, NewFile, Origin
from runtime.capabilities.resources import name_of, text_of
from runtime.errors import InvalidArguments
from runtime.ledger.port import NewEvent
from runtime.texts import Say

_OWN = ("template", "title")
_HELPERS = ("table", "chart")
_ADDED = ("title", "known_at", "language")
INPUT = "input"
"""Step of an origin that is a parameter of the order."""

SPEC = CapabilitySpec(
    name="report",
    kind="builtin_tool",
    description="Writes a Markdown report from a template; every number in it carries the mark of its source.",
    parameters={
        "template": Parameter(
            type=ValueType.ANY, description="Template text, or its file in the skill's folder; one for each language "
            "as {en: …, zh: …}.", example="report.md.j2",
        ),
        "title": Parameter(type=ValueType.ANY, description="Title, one text or one for each language."),
    },
    gives={"title": "string", "markdown_sha256": "string", "n_sources": "integer"},
    effect=Effect.READ,
    tier=Tier.COGNITIVE,
    resources=("template",),
    open_arguments=True,
)  # fmt: skip
"""What it is; arguments beside these two are the data, under the names the template uses."""


@dataclass(frozen=True, slots=True)
class Written:
    """A finished report: its files, the Markdown first, and the source of each number."""

    title: str
    files: tuple[NewFile, ...]
    sources: tuple[SourceLink, ...]


class ReportCapability:
    """Makes reports; `texts` gives the catalogue of a language."""

    def __init__(self, texts: Callable[[str], Say]) -> None:
        self._texts = texts

    @property
    def spec(self) -> CapabilitySpec:
        """What it is."""
        return SPEC

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Write the report and hand it over as a data product."""
        written = await asyncio.to_thread(self.write, arguments, context)
        product = _product(written, context)
        return CallResult(
            output={
                "title": written.title,
                "markdown_sha256": sha256(written.files[0].data),
                "n_sources": len({source.anchor for source in written.sources}),
            },
            files=written.files,
            events=(NewEvent("product.made", {"product": product.to_json()}),),
            query_sha256=sha256(text_of(_in_language(arguments["template"], context.order.language))),
        )

    def write(self, arguments: Mapping[str, Json], context: CallContext) -> Written:
        """Return the report. The same arguments, origins and language give the same bytes, on any day and machine."""
        language = context.order.language
        template = _in_language(arguments["template"], language)
        page = Page(self._texts(language))
        charts = Charts(page)
        values = trace(_data(arguments, language, context), _origins(arguments, context), page)
        helpers = {"table": table_for(page), "chart": charts.chart}
        name = name_of(template) or "written in the plan"
        body = fill(text_of(template), name, values, page, helpers)
        markdown, sources = page.finish(body)
        main = NewFile("report.md", "text/markdown", markdown.encode())
        return Written(str(plain(values["title"])), (main, *charts.files), sources)


def names_in(arguments: Mapping[str, Json]) -> tuple[str, ...]:
    """Return every name that the template of a step with these arguments may use."""
    return (*sorted(arguments.keys() - set(_OWN)), *_ADDED, *_HELPERS)


def _data(arguments: Mapping[str, Json], language: str, context: CallContext) -> dict[str, Json]:
    """Return what the template sees: the data, the title and the moment as of which it was known."""
    taken = sorted(({*_HELPERS, *_ADDED} - set(_OWN)) & arguments.keys())
    if taken:
        raise InvalidArguments(
            f"A report's data cannot be called {' or '.join(taken)}: templates use the name for something else. "
            "Choose another name in `with`.",
            names=list[Json](taken),
        )
    known_at = context.order.known_at
    data = {name: clean(value) for name, value in arguments.items() if name not in _OWN}
    return {
        **data,
        "title": _in_language(arguments["title"], language),
        "known_at": None if known_at is None else known_at.isoformat(),
        "language": language,
    }


def _origins(arguments: Mapping[str, Json], context: CallContext) -> dict[str, Origin]:
    """Return the origins of the data; a title that only repeats what was asked for needs none."""
    title = f"title.{_language_of(arguments['title'], context.order.language)}"
    origins = {"title" if where == title else where: origin for where, origin in context.origins.items()}
    return {where: origin for where, origin in origins.items() if where != "title" or origin.step != INPUT}


def _in_language(value: Json, language: str) -> Json:
    """Return the form of `value` for this language: its own, else English, else the first there is."""
    chosen = _language_of(value, language)
    return value[chosen] if chosen is not None and isinstance(value, dict) else value


def _language_of(value: Json, language: str) -> str | None:
    if not isinstance(value, dict) or is_file(value) or not value:
        return None
    return next((name for name in (language, "en") if name in value), next(iter(value)))


def _product(written: Written, context: CallContext) -> DataProduct:
    labels: dict[str, Any] = {"language": context.order.language}
    if context.order.skill is not None:
        labels["skill"] = context.order.skill
    return DataProduct(
        product_id=ProductId.new(),
        execution_id=context.order.execution_id,
        order_id=context.order.order_id,
        step=context.step,
        kind="report",
        title=written.title,
        labels=labels,
        artifacts=tuple(
            Artifact(name=file.name, media_type=file.media_type, sha256=sha256(file.data), size=len(file.data))
            for file in written.files
        ),
        sources=written.sources,
        made_at=context.now,
    )
