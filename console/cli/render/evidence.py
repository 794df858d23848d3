"""The evidence of one order: what was done and seen in each step, and whether all of it is still as it was sealed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from console.cli.form import to_data
from console.cli.output import Output
from console.cli.render.kept import size
from console.cli.words import brief_hash, moment, one_line
from contracts import EvidenceItem, EvidenceKind
from runtime.texts import Say

if TYPE_CHECKING:
    from cluster.evidence import ItemExamined, OrderEvidence

_NAME = 200
"""Letters of a file's name that are shown."""


def evidence_lines(found: OrderEvidence, output: Output) -> Iterator[RenderableType]:
    """Yield the evidence of an order for people, step by step."""
    say, order = output.say, found.order
    skill = f" · {order.skill}" if order.skill else ""
    yield Text.assemble((str(order.order_id), "bold"), f"  {order.employee}{skill}")
    yield Text(f"  {_seal(found, say)}", style="dim")
    for step, items in groupby(found.items, key=lambda each: each.item.step):
        yield Text(f"  {step}")
        for each in items:
            mark = ("✗ ", "red") if each.fault else ("  ", "")
            yield Text.assemble(
                "  ", mark, (f"{each.number:>3}  {each.item.at:%H:%M:%S}  ", "dim"), _what(each.item, say),
                (f"  {brief_hash(each.item.sha256)} · {say(f'evidence-{each.kept.value}')}", "dim"),
            )  # fmt: skip
    if not found.items:
        yield Text(f"  {say('evidence-nothing')}")
    for path, why in sorted(found.left.items()):
        yield Text(f"  {say('evidence-left', path=one_line(path, _NAME), why=why)}", style="yellow")
    yield from fault_lines(found, say)


def fault_lines(found: OrderEvidence, say: Say) -> Iterator[RenderableType]:
    """Yield what is wrong, and what can no longer be told."""
    if found.erased:
        yield Text(f"  {say('evidence-erased', count=found.erased)}", style="yellow")
    for fault in found.faults:
        yield Text.assemble(("  ✗ ", "red"), fault)


def evidence_data(found: OrderEvidence) -> dict[str, Any]:
    """Return the JSON form of an order's evidence."""
    package = found.package
    return {
        "order_id": found.order.order_id,
        "execution_id": found.order.execution_id,
        "employee": found.order.employee,
        "skill": found.order.skill,
        "state": found.state.value,
        "sealed": found.seal.value,
        "evidence_id": package and package.evidence_id,
        "seal": package and package.seal,
        "sealed_at": package and to_data(package.sealed_at),
        "items": [_item_data(each) for each in found.items],
        "left_in_slot": dict(found.left),
        "erased": found.erased,
        "faults": list(found.faults),
    }


def _item_data(each: ItemExamined) -> dict[str, Any]:
    return {"number": each.number, **each.item.to_json(), "bytes": each.kept.value, "fault": each.fault}


def _seal(found: OrderEvidence, say: Say) -> str:
    package = found.package
    if found.seal.value == "sealed" and package is not None:
        return say("evidence-sealed", count=package.count, at=moment(package.sealed_at), seal=brief_hash(package.seal))
    return say(f"evidence-seal-{found.seal.value}")


def _what(item: EvidenceItem, say: Say) -> str:
    facts = item.facts
    told = [item.capability or "", one_line(str(facts.get("name", "")), _NAME)]
    if item.kind is EvidenceKind.FILE and facts.get("removed"):
        told.append(say("evidence-removed"))
    elif isinstance(bytes_ := facts.get("size"), int):
        told.append(size(bytes_))
    if isinstance(facts.get("files"), int):
        told.append(say("evidence-files", count=facts["files"], first=facts.get("first"), last=facts.get("last")))
    if isinstance(facts.get("row_count"), int):
        told.append(say("evidence-rows", count=facts["row_count"]))
    if isinstance(facts.get("seconds"), int | float):
        told.append(f"{facts['seconds']:.2f} s")
    return " · ".join([say(f"evidence-kind-{item.kind.value}"), *filter(None, told)])
