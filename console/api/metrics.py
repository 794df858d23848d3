"""`/metrics` for Prometheus: numbers about the cluster; no token is needed, and nothing tells whose work it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fastapi import APIRouter, FastAPI, Request, Response

from console.api.errors import NotReady
from console.api.health import WITHIN_S
from console.ports import Application
from console.views_cluster import ClusterNumbers, NodeState
from runtime.errors import LedgerError
from runtime.telemetry.metrics import CONTENT_TYPE, Gauge, Gauges, Metrics

FRESH_S = 1.0
"""How long an answer is given again: whoever asks more often costs the ledger nothing."""

routes = APIRouter(tags=["health"])


class ClusterMetrics:
    """The numbers of one server, read from the ledger when somebody asks."""

    def __init__(self, application: Application, metrics: Metrics) -> None:
        self._application = application
        self._metrics = metrics
        self._numbers: ClusterNumbers | None = None
        self._read_at = float("-inf")
        self._turn = asyncio.Lock()
        metrics.add(Gauges(self._gauges))

    async def text(self) -> bytes:
        """Return everything that the registry holds; raise LedgerError while the ledger is away."""
        now = asyncio.get_running_loop().time
        async with self._turn:
            if now() - self._read_at >= FRESH_S:
                self._numbers = await self._application.cluster_numbers()
                self._read_at = now()
        return self._metrics.text()

    def _gauges(self) -> Iterable[Gauge]:
        if self._numbers is None:
            return ()
        return gauges_of(self._numbers)


def gauges_of(numbers: ClusterNumbers) -> list[Gauge]:
    """Return the numbers of the cluster under the names that stand in docs/cluster.md and docs/models.md."""
    nodes = numbers.nodes
    states = {state: sum(each.state is state for each in nodes) for state in NodeState}
    living = [each for each in nodes if each.state is not NodeState.LOST]
    slots = [((each.node_id.ulid, "taken"), each.taken) for each in living]
    slots += [((each.node_id.ulid, "free"), each.slots - each.taken) for each in living]
    warm = [((each.node_id.ulid,), len(each.warm)) for each in living]
    beats = [((each.node_id.ulid,), (numbers.at - each.beat_at).total_seconds()) for each in living if each.beat_at]
    pulls = [((each.node_id.ulid,), (numbers.at - each.pulled_at).total_seconds()) for each in living if each.pulled_at]
    return [
        Gauge("cluster_orders", "Orders of the queue, by where they stand.", ["state"],
              [((state.value,), count) for state, count in numbers.orders.items()]),
        Gauge("cluster_queue_limit", "Orders that may wait before more are refused.", (), [((), numbers.most_queued)]),
        Gauge("cluster_oldest_wait_seconds", "How long the order that waits longest has waited.", (),
              [((), numbers.oldest_wait_s)]),
        Gauge("cluster_nodes", "Nodes, by how they stand.", ["state"],
              [((state.value,), count) for state, count in states.items()]),
        Gauge("cluster_slots", "Slots of the nodes that live.", ["node", "state"], slots),
        Gauge("cluster_warm_slots", "Free slots that are kept ready for the next orders.", ["node"], warm),
        Gauge("cluster_heartbeat_age_seconds", "Time since the last sign of life of a node.", ["node"], beats),
        Gauge("cluster_pull_age_seconds", "Time since a node last looked for orders.", ["node"], pulls),
        Gauge("leases", "Leases that are held, by what they are for.", ["kind"],
              [((kind,), count) for kind, count in sorted(numbers.leases.items())]),
        Gauge("model_guards", "How often models had to be corrected.", ["guard", "model", "tool"],
              list(numbers.guards.items()), only_grows=True),
        Gauge("model_occasions", "How often guards could have corrected models.", ["occasion", "model", "tool"],
              list(numbers.occasions.items()), only_grows=True),
    ]  # fmt: skip


def serve_metrics(api: FastAPI, application: Application) -> None:
    """Let the API answer `/metrics`; `api.state.metrics` is the registry to which other rooms add theirs."""
    api.state.metrics = Metrics()
    api.state.cluster_metrics = ClusterMetrics(application, api.state.metrics)
    api.include_router(routes)


@routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Give the numbers of the cluster in the text format of Prometheus; they are at most a second old."""
    try:
        async with asyncio.timeout(WITHIN_S):
            text = await request.app.state.cluster_metrics.text()
    except (LedgerError, TimeoutError):
        raise NotReady("The ledger does not answer.") from None
    return Response(text, media_type=CONTENT_TYPE)
