"""Where a delivery came from, and what was made of it: a graph of the steps of its execution, read from the ledger.

An edge leads from what was read to what was made of it, by the bindings that the plan declares; nothing is guessed.
Nodes are steps; deliveries hang on the step in which they were made. Versions are what made it: the organisation's
folder, the plan, queries, data, definitions of metrics, each by its hash or number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from contracts import CardId, Event, ExecutionId, Json, Name, ProductId, Step, TaskOrder
from memory.products.entry import Entry, order_in, step_after
from runtime.canonical import sha256
from runtime.engine.scope import names_read
from runtime.errors import NotFound
from runtime.ledger.port import Store

if TYPE_CHECKING:
    import networkx as nx

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class LineageStep:
    """One step that a delivery rests on, or that rests on it."""

    id: str
    """`ORDER ULID/STEP`."""
    employee: Name
    step: str
    use: str
    """The capability, or the skill that was delegated."""
    output_sha256: str = ""
    query_sha256: str = ""
    data_sha256: str = ""
    metric: str = ""
    metric_version: str = ""
    """Hash of its definition."""
    deliveries: tuple[ProductId, ...] = ()
    """What was delivered in it."""
    card: CardId | None = None
    """What people were asked in it."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where one delivery came from, and what came of it."""

    product_id: ProductId
    execution_id: ExecutionId
    goal: str
    organisation_sha256: str
    """Of the folder as it was pinned."""
    skill: str
    plan_sha256: str
    """Of the plan that its order carried out."""
    made_in: str
    """The step in which it was made."""
    upstream: tuple[LineageStep, ...]
    """What it rests on, sources first."""
    downstream: tuple[LineageStep, ...]
    """What was made of it, nearest first."""
    edges: tuple[tuple[str, str], ...]
    """From what was read to what was made of it, between those steps and its own."""
    step: LineageStep = field(default_factory=lambda: LineageStep("", "", "", ""))
    """Its own."""


async def lineage_of(store: Store, entry: Entry) -> Lineage:
    """Return the lineage of a delivery.

    Raises:
        NotFound: what its execution told was pruned.
    """
    import networkx as nx

    product = entry.product
    told = _Told(await _events_of(store, product.execution_id))
    if product.order_id not in told.orders:
        raise NotFound(f"What led to {product.product_id} was pruned.", id=product.product_id)
    graph, steps = await _graph(store, told)
    own = f"{product.order_id.ulid}/{product.step}"
    if own not in steps:
        raise NotFound(f"The step in which {product.product_id} was made is not known.", id=product.product_id)
    before, after = nx.ancestors(graph, own), nx.descendants(graph, own)
    kept = {own, *before, *after}
    order = told.orders[product.order_id]
    sorted_ = list(nx.lexicographical_topological_sort(graph.subgraph(kept)))
    return Lineage(
        product.product_id, product.execution_id, told.goal, told.organisation_sha256, order.skill or "",
        sha256(order.plan.to_json()), own, tuple(steps[each] for each in sorted_ if each in before),
        tuple(steps[each] for each in sorted_ if each in after),
        tuple(sorted((a, b) for a, b in graph.edges if a in kept and b in kept)), steps[own],
    )  # fmt: skip


async def _events_of(store: Store, execution_id: ExecutionId) -> list[Event]:
    found: list[Event] = []
    after = 0
    while events := await store.ledger.read_execution(execution_id, after=after, limit=_PAGE):
        found += events
        after = events[-1].position
    return found


class _Told:
    """What the events of an execution tell of its orders."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.orders: dict[str, TaskOrder] = {}
        self.streams: dict[str, list[Event]] = {}
        self.goal = self.organisation_sha256 = ""
        for event in events:
            self.streams.setdefault(event.subject, []).append(event)
            if event.type == "execution.requested" and event.data is not None:
                request: Any = event.data.get("request") or {}
                self.goal, self.organisation_sha256 = (
                    str(request.get("goal") or ""),
                    str(event.data["organisation_sha256"]),
                )
        for stream, those in self.streams.items():
            order = order_in(those)
            if order is not None:
                self.orders[stream] = order


async def _graph(store: Store, told: _Told) -> tuple[nx.DiGraph[str], dict[str, LineageStep]]:
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    steps: dict[str, LineageStep] = {}
    below: dict[str, dict[str, list[str]]] = {}
    for stream, order in told.orders.items():
        for event in told.streams[stream]:
            if event.type == "step.finished" and event.data is not None:
                step = await _step(store, order, event.data)
                steps[step.id] = step  # of repetitions the newest tells
                if isinstance(event.data.get("order_id"), str):
                    below.setdefault(stream, {}).setdefault(step.id, []).append(str(event.data["order_id"]))
    graph.add_nodes_from(steps)
    for stream, order in told.orders.items():
        graph.add_edges_from(_edges(order, steps))
        graph.add_edges_from(_handed_up(order, below.get(stream, {}), told, steps))
    for stream, those in told.streams.items():
        _deliver(stream, those, told, steps, graph)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph, steps


def _edges(order: TaskOrder, steps: Mapping[str, LineageStep]) -> Iterator[tuple[str, str]]:
    """Yield what the plan of an order binds: from a step to each that reads it."""
    ulid = order.order_id.ulid
    for step in order.plan.all_steps():
        for name in names_read(step):
            if f"{ulid}/{name}" in steps and f"{ulid}/{step.id}" in steps:
                yield f"{ulid}/{name}", f"{ulid}/{step.id}"


def _handed_up(
    order: TaskOrder, below: Mapping[str, Sequence[str]], told: _Told, steps: Mapping[str, LineageStep]
) -> Iterator[tuple[str, str]]:
    """Yield what orders below gave to the step that delegated to them, and what that step handed down."""
    by_id = {step.id: step for step in order.plan.all_steps()}
    for parent, streams in below.items():
        for stream in streams:
            child = told.orders.get(stream)
            if child is None:
                continue
            ids = {step.id: f"{child.order_id.ulid}/{step.id}" for step in child.plan.all_steps()}
            there = [each for each in ids.values() if each in steps]
            last = [ids[each] for each in _given(child) if ids.get(each) in steps] or there[-1:]
            yield from ((each, parent) for each in last)
            delegating = by_id.get(parent.partition("/")[2])
            sources = [] if delegating is None else _read_by(order, delegating, steps)
            yield from ((source, each) for source in sources for each in there)


def _given(order: TaskOrder) -> list[str]:
    """Return the steps whose outputs an order gives; its last one where it declares none."""
    plan = order.plan
    if not plan.gives:
        return [plan.steps[-1].id]
    text = json.dumps(plan.to_json()["gives"])
    return [step.id for step in plan.all_steps() if step.id in text]


def _read_by(order: TaskOrder, step: Step, steps: Mapping[str, LineageStep]) -> list[str]:
    ids = (f"{order.order_id.ulid}/{name}" for name in names_read(step))
    return [each for each in ids if each in steps]


def _deliver(
    stream: str, events: Sequence[Event], told: _Told, steps: dict[str, LineageStep], graph: nx.DiGraph[str]
) -> None:
    """Hang deliveries and cards on the steps in which they were made; a step that still waits is one as well."""
    for event in events:
        data: Any = event.data
        if data is None:
            continue
        if event.type == "product.made":
            _hang(steps, stream, str(data["product"]["step"]), ProductId(str(data["product"]["product_id"])))
        elif event.type == "finding.made":
            ulid = str(data["finding"]["finding_id"]).partition("/")[2]
            _hang(steps, stream, step_after(events, event.position), ProductId(f"{ProductId.KIND}/{ulid}"))
        elif event.type == "card.raised":
            card = data["card"]
            order = told.orders.get(str(card["order_id"]))
            if order is None:
                continue
            name = f"{order.order_id.ulid}/{card['step']}"
            if name not in steps:
                step = next((each for each in order.plan.all_steps() if each.id == card["step"]), None)
                steps[name] = LineageStep(name, order.employee, str(card["step"]), (step.use or "") if step else "")
                graph.add_node(name)
                graph.add_edges_from((each, name) for each in (_read_by(order, step, steps) if step else ()))
            ulid = str(card["card_id"]).partition("/")[2]
            steps[name] = replace(
                steps[name], card=CardId(str(card["card_id"])),
                deliveries=(*steps[name].deliveries, ProductId(f"{ProductId.KIND}/{ulid}")),
            )  # fmt: skip


def _hang(steps: dict[str, LineageStep], stream: str, step: str, product_id: ProductId) -> None:
    name = f"{stream.partition('/')[2]}/{step}"
    if name in steps:
        steps[name] = replace(steps[name], deliveries=(*steps[name].deliveries, product_id))


async def _step(store: Store, order: TaskOrder, data: Mapping[str, Any]) -> LineageStep:
    output = data.get("output")
    address = str(data.get("output_sha256") or (sha256(output) if output is not None else ""))
    use = str(data.get("use") or "") or str(data.get("skill") or _delegated(order, str(data["step"])))
    metric, version = _metric(output if output is not None else await _stored(store, address, use))
    return LineageStep(
        f"{order.order_id.ulid}/{data['step']}", order.employee, str(data["step"]), use, address,
        str(data.get("query_sha256") or ""), str(data.get("data_sha256") or ""), metric, version,
    )  # fmt: skip


async def _stored(store: Store, address: str, use: str) -> Json:
    if not address or use not in ("metric", "explain"):
        return None
    try:
        told: Json = json.loads(await store.blobs.get(address))
    except (NotFound, ValueError):
        return None
    return told


def _metric(output: Json) -> tuple[str, str]:
    if not isinstance(output, Mapping):
        return "", ""
    name, version = output.get("metric"), output.get("version")
    return (name, str(version)) if isinstance(name, str) and version is not None else ("", "")


def _delegated(order: TaskOrder, step: str) -> str:
    found = next((each for each in order.plan.all_steps() if each.id == step), None)
    return "" if found is None else (found.skill or found.use or "")
