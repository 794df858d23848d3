"""What the ledger tells of deliveries: a report that was made, a finding, a decision on a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts import (
    CardKind,
    DataProduct,
    DecisionCard,
    Event,
    Finding,
    Json,
    Name,
    OrderId,
    ProductId,
    SourceLink,
    TaskOrder,
)
from runtime.canonical import clean_text
from runtime.texts import in_language

REPORT, INSIGHT, DECISION = "report", "insight", "decision"
MADE = {"product.made": REPORT, "finding.made": INSIGHT, "card.decided": DECISION}
"""Event → what was delivered; what a product is called, it says itself."""
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One delivery, as the table keeps it."""

    product: DataProduct
    key: str
    """The same for deliveries that follow each other: kind, skill, step, and what a decision is about."""
    organisation: Name
    employee: Name
    """Who delivered it."""
    skill: str
    """Of the execution, by which its department may be told; empty for none."""
    intent: str
    """What the order was to do."""
    domains: tuple[Name, ...]
    """Domains of knowledge that the order could use: whoever has all of them may find it."""
    text: str
    """What it says, as far as it is searched."""

    def to_json(self) -> dict[str, Json]:
        """Return it as the table keeps it."""
        domains: list[Json] = [*self.domains]
        return {
            "product": self.product.to_json(), "key": self.key, "organisation": self.organisation,
            "employee": self.employee, "skill": self.skill, "intent": self.intent, "domains": domains,
            "text": self.text,
        }  # fmt: skip

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Entry:
        """Return the entry of a row."""
        return cls(
            DataProduct.read(told["product"]), told["key"], told["organisation"], told["employee"], told["skill"],
            told["intent"], tuple(told["domains"]), told["text"],
        )  # fmt: skip


def of_report(event: Event, order: TaskOrder, skill: str, text: str) -> Entry:
    """Return the entry of a product that an order made; `text` is what its main file says."""
    assert event.data is not None
    product = DataProduct.read(event.data["product"])  # type: ignore[arg-type]
    return _entry(product, order, skill, text, about="")


def of_finding(event: Event, order: TaskOrder, skill: str, step: str) -> Entry:
    """Return the entry of something that was found out in a step."""
    assert event.data is not None
    finding = Finding.read(event.data["finding"])  # type: ignore[arg-type]
    statement = clean_text(in_language(finding.statement, order.language))
    title = statement if len(statement) <= _LONGEST_TITLE else f"{statement[: _LONGEST_TITLE - 1]}…"
    labels = {"verdict": finding.verdict, "confidence": finding.confidence.value, "language": order.language}
    metric = finding.statistics.get("metric")
    if isinstance(metric, str):
        labels["metric"] = metric
    product = DataProduct(
        product_id=ProductId(f"{ProductId.KIND}/{finding.finding_id.ulid}"), execution_id=finding.execution_id,
        order_id=finding.order_id, step=step, kind=INSIGHT, title=title,
        labels=labels | ({"skill": order.skill} if order.skill else {}), artifacts=(), made_at=event.time,
    )  # fmt: skip
    return _entry(product, order, skill, statement, about="")


def of_decision(event: Event, card: DecisionCard, order: TaskOrder, skill: str) -> Entry:
    """Return the entry of what people decided on a card."""
    assert event.data is not None
    decision: Any = event.data["decision"]
    option = next((each for each in card.options if each.id == decision.get("option")), None)
    chosen = in_language(option.title, order.language) if option else str(decision.get("option") or "none of these")
    question = clean_text(in_language(card.question, order.language))
    labels = {
        "policy": card.policy, "card": card.kind.value, "option": str(decision.get("option") or ""),
        "language": order.language, "decided": "yes" if option else "no",
    }  # fmt: skip
    product = DataProduct(
        product_id=ProductId(f"{ProductId.KIND}/{card.card_id.ulid}"), execution_id=card.execution_id,
        order_id=card.order_id, step=card.step, kind=DECISION, title=f"{question} → {chosen}"[:_LONGEST_TITLE],
        labels={name: value for name, value in labels.items() if value}, artifacts=(),
        sources=tuple(_sources(card.facts)), made_at=event.time,
    )  # fmt: skip
    impact = in_language(card.impact, order.language)
    about = card.about or (card.policy if card.kind is not CardKind.CHOICE else "")
    return _entry(product, order, skill, f"{question}\n{impact}\n{chosen}", about=about)


def _entry(product: DataProduct, order: TaskOrder, skill: str, text: str, *, about: str) -> Entry:
    key = "/".join(filter(None, (product.kind, order.skill or order.employee, product.step, about)))
    return Entry(
        product, key, order.organisation, order.employee, skill, clean_text(order.objective), order.knowledge_scope,
        text,
    )  # fmt: skip


def _sources(facts: Mapping[str, Json]) -> Sequence[SourceLink]:
    found = []
    for name, fact in facts.items():
        source = fact.get("source") if isinstance(fact, Mapping) else None
        if isinstance(source, Mapping) and {"step", "path", "result_sha256"} <= source.keys():
            value = fact.get("value") if isinstance(fact, Mapping) else None
            found.append(SourceLink.read({"anchor": name, "value": value, **source}))
    return found


def order_in(events: Sequence[Event]) -> TaskOrder | None:
    """Return the order of a stream that begins with its acceptance; None where its words are gone."""
    first = events[0] if events else None
    if first is None or first.type != "order.accepted" or first.data is None:
        return None
    return TaskOrder.read(first.data["order"])  # type: ignore[arg-type]


def step_after(events: Sequence[Event], position: int) -> str:
    """Return the step with whose end a fact was stored: the next one that finished in the stream of its order."""
    for event in events:
        if event.position > position and event.type == "step.finished" and event.data is not None:
            return str(event.data["step"])
    return "do"


def order_id_of(event: Event) -> OrderId | None:
    """Return the order in whose stream a fact stands."""
    return OrderId(event.subject) if event.subject.startswith(f"{OrderId.KIND}/") else None
