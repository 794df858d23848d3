"""Data products, as lines."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from console.cli.output import Output
from console.cli.render.facts import Pair, facts
from console.cli.words import moment, one_line
from console.views_products import LineageNode, ProductDetail, ProductHit, ProductLineage, ProductRow
from runtime.texts import in_language

_MARKS = {"report": ("▤ ", "blue"), "decision": ("◆ ", "magenta"), "insight": ("✦ ", "yellow")}
_LONGEST = 200
_PAGE = 4_000


def product_lines(row: ProductRow, output: Output) -> list[Text]:
    """Return a product: what it is called, when it was made, under which key."""
    product = row.product
    title = one_line(in_language(product.title, output.language), _LONGEST)
    stands = f"  {output.say(f'products-kind-{product.kind}')} · {moment(product.made_at)} · {row.employee} · {row.key}"
    mark = _MARKS.get(product.kind, ("▤ ", "blue"))
    return [Text.assemble(mark, title, (f"  {product.product_id.ulid}", "dim")), Text(stands, style="dim")]


def hit_lines(hit: ProductHit, output: Output) -> list[Text]:
    """Return a product that was found, and why."""
    parts = " · ".join(f"{output.say(f'memory-part-{name}')} {value:.2f}" for name, value in hit.parts.items())
    words = ", ".join(list(hit.terms)[:6])
    return [
        *product_lines(hit.row, output),
        Text(f"  {hit.score:.2f} = {parts}{f'   ({words})' if words else ''}", style="dim"),
    ]


def detail_lines(detail: ProductDetail, output: Output) -> list[RenderableType]:
    """Return a product with all that is known of it, and its page."""
    row, say = detail.row, output.say
    product = row.product
    pairs: list[Pair] = [
        (say("products-execution"), product.execution_id),
        (say("products-step"), f"{row.employee}/{product.step}"),
        (say("products-intent"), one_line(row.intent, _LONGEST)),
        (say("products-labels"), ", ".join(f"{name}={value}" for name, value in product.labels.items())),
        (say("products-files"), ", ".join(f"{each.name} ({each.sha256[:12]})" for each in product.artifacts)),
        (say("products-sources"), str(len(product.sources))),
        (say("products-versions"), ", ".join(each.ulid for each in detail.versions)),
    ]
    lines: list[RenderableType] = [*product_lines(row, output)]
    lines.append(facts([(name, value) for name, value in pairs if value]))
    text = detail.content if detail.content is not None else row.text
    return [*lines, *map(Text, (text if len(text) <= _PAGE else f"{text[:_PAGE]}…").splitlines())]


def lineage_lines(found: ProductLineage, output: Output) -> list[RenderableType]:
    """Return where a product came from, sources first, and what was made of it."""
    say = output.say
    pairs: list[Pair] = [
        (say("products-execution"), found.execution_id),
        (say("products-intent"), found.goal),
        (say("products-skill"), f"{found.skill} (plan {found.plan_sha256[:12]})"),
        (say("products-folder"), found.organisation_sha256[:12]),
    ]
    lines: list[RenderableType] = [facts([(name, value) for name, value in pairs if value])]
    lines.append(Text(say("products-upstream", count=len(found.upstream)), style="bold"))
    lines += [_node(each) for each in found.upstream]
    lines += [Text(say("products-made-in"), style="bold"), _node(found.made_in)]
    if found.downstream:
        lines.append(Text(say("products-downstream", count=len(found.downstream)), style="bold"))
        lines += [_node(each) for each in found.downstream]
    return lines


def _node(node: LineageNode) -> Text:
    hashes = [("query", node.query_sha256), ("data", node.data_sha256), ("output", node.output_sha256)]
    told = " · ".join(f"{name} {value[:12]}" for name, value in hashes if value)
    metric = f"  {node.metric} v{node.metric_version[:12]}" if node.metric else ""
    given = "".join(f"  → {each.ulid}" for each in node.deliveries)
    return Text.assemble(
        f"  {node.employee}/{node.step}", (f"  {node.use}", "cyan"), (metric, "green"), (f"  {told}", "dim"),
        (given, "yellow"),
    )  # fmt: skip
