"""`silicon products`: what work delivered, found by what it is about or by key, and where each came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation, command, moment
from console.cli.render.products import detail_lines, hit_lines, lineage_lines, product_lines
from console.cli.session import Session, conduct
from console.ids import choose
from console.ports import Application
from console.ports_products import ProductsAsked
from contracts import ProductId
from runtime.errors import InvalidArguments

app = command("Find what work delivered: reports, decisions, insights; and where each came from.")
Product = Annotated[
    str, typer.Argument(metavar="PRODUCT", help="The product: the first or last letters of its id do, or its key.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="report|decision|insight", help="Of this kind; repeatable.", show_default=False),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="With this label; repeatable.", show_default=False),
]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Made from then on.", show_default=False)]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Made before.", show_default=False)]
Newest = Annotated[bool, typer.Option("--newest", help="Only the newest of each key.")]


@app.command("list")
def list_(
    organisation: Organisation,
    *,
    kind: Kinds = None,
    label: Labels = None,
    since: Since = None,
    until: Until = None,
    newest: Newest = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="So many at most.")] = 20,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List products, newest first."""

    async def work(session: Session, application: Application) -> int:
        asked = _asked(kind, label, since, until, newest=newest)
        found = await application.products(Path(organisation), asked, limit=limit)
        session.output.data({"products": found})
        if not found:
            session.output.show(session.say("products-none"))
        for row in found:
            session.output.show(*product_lines(row, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def search(
    organisation: Organisation,
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What is looked for, in words.")],
    *,
    kind: Kinds = None,
    label: Labels = None,
    since: Since = None,
    until: Until = None,
    newest: Newest = False,
    top: Annotated[int, typer.Option("--top", min=1, max=100, help="So many at most.")] = 5,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Find the products that fit a question, and why these."""

    async def work(session: Session, application: Application) -> int:
        asked = _asked(kind, label, since, until, newest=newest)
        found = await application.search_products(Path(organisation), query, asked, top=top)
        session.output.data({"hits": found})
        if not found:
            session.output.show(session.say("products-none"))
        for hit in found:
            session.output.show(*hit_lines(hit, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(organisation: Organisation, product: Product, *, language: Language = None, as_json: AsJson = False) -> None:
    """Show one product: what it says, labels, files, versions."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        if "/" in product and not product.startswith(f"{ProductId.KIND}/"):
            detail = await application.product_by_key(folder, product)
        else:
            detail = await application.product(folder, await _find(application, folder, product))
        session.output.data(detail)
        session.output.show(*detail_lines(detail, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def lineage(
    organisation: Organisation,
    product: Product,
    *,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw it into this SVG file as well.", show_default=False),
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show where a product came from, and what was made of it.

    Steps, queries, data, metrics and plan, each with its version.
    """

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        if "/" in product and not product.startswith(f"{ProductId.KIND}/"):
            product_id = (await application.product_by_key(folder, product)).row.product.product_id
        else:
            product_id = await _find(application, folder, product)
        found = await application.product_lineage(folder, product_id, picture=picture is not None)
        if picture is not None and found.picture is not None:
            _write(picture, found.picture)
        session.output.data(replace(found, picture=None))
        session.output.show(*lineage_lines(found, session.output))
        if picture is not None:
            session.output.show(session.say("products-drawn", file=str(picture)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def rebuild(*, language: Language = None, as_json: AsJson = False) -> None:
    """Make the table of products again from the ledger."""

    async def work(session: Session, application: Application) -> int:
        count = await application.rebuild_products()
        session.output.data({"products": count})
        session.output.show(session.say("products-rebuilt", count=count))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


async def _find(application: Application, folder: Path, typed: str) -> ProductId:
    return choose(ProductId, typed, await application.product_ids(folder))


def _asked(
    kinds: list[str] | None, labels: list[str] | None, since: str | None, until: str | None, *, newest: bool
) -> ProductsAsked:
    pairs = [label.partition("=") for label in labels or ()]
    if wrong := [name for name, sign, _ in pairs if not sign or not name]:
        raise InvalidArguments(f"A label is NAME=VALUE, not {wrong[0]!r}.", label=wrong[0])
    return ProductsAsked(
        tuple(kinds or ()),
        {name: value for name, _, value in pairs},
        moment(since, "--since"),
        moment(until, "--until"),
        newest,
    )


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be written: {error.strerror}.", file=str(file)) from None
