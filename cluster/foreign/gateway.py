"""What bridges that speak HTTP may say, and what is answered. Every process on the ledger answers alike."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, select
from ulid import ULID

from cluster.control_plane import open_control_plane, standing
from cluster.control_plane.rows import node_from
from cluster.engines import Engines
from cluster.foreign.board import Board
from cluster.foreign.entering import Entering, Heard, session_over
from cluster.foreign.errors import BeyondRights
from cluster.foreign.held import IN_HAND, Hand, runner_of
from cluster.foreign.orders import Orders
from cluster.foreign.rights import Rights
from cluster.foreign.stewards import Stewards
from cluster.sandbox.port import Lack
from cluster.slot import FOREIGN, Node
from contracts import (
    BridgeAsk,
    BridgeBeat,
    BridgeEntry,
    BridgeIntent,
    BridgeNext,
    BridgeNode,
    BridgeOrder,
    BridgeOrders,
    BridgeReceipt,
    BridgeTaken,
    BridgeVerdict,
    BridgeWord,
    NodeId,
    OrderId,
)
from runtime.capabilities.placing import ASKS_FIRST, carries, serves
from runtime.ledger.schema import cluster_nodes, cluster_orders
from runtime.ledger.transaction import Transaction


class BridgeGateway:
    """The part of the gateway that speaks with bridges over HTTP. It keeps nothing that rows and ledger do not tell.

    Args:
        engines: makes the engines that take orders from step to step in this process.
    """

    def __init__(self, board: Board, engines: Engines) -> None:
        self._board = board
        self._entering = Entering(board)
        plane = open_control_plane(board.store, None, board.clock, slot=board.slot, cluster=board.cluster)
        self._stewards = Stewards(board, engines, plane)
        self._orders = Orders(board, self._stewards, plane)

    async def register(self, rights: Rights, declared: BridgeNode) -> BridgeEntry:
        """Enter a node, or enter it anew: its earlier session is over then.

        Raises:
            BeyondRights: it offers a label that its token does not have.
        """
        beyond = sorted(set(declared.labels) - set(rights.labels))
        if beyond:
            raise BeyondRights(
                f"The token may not offer {', '.join(beyond)}. It may offer: {', '.join(rights.labels) or 'no label'}.",
                labels=list(beyond),
            )
        node, session = _node_of(rights, declared), secrets.token_hex(16)
        runner = runner_of(rights.token, node.node_id, session)
        await self._board.write(lambda tx, now: self._entering.enter(tx, now, runner, node))
        cluster, lease_s = self._board.cluster, self._board.slot.lease_s
        return BridgeEntry(
            node_id=node.node_id, session=session, beat_s=min(cluster.beat_s, lease_s / 3), lost_s=cluster.lost_s,
            lease_s=lease_s, organisations=rights.organisations,
        )  # fmt: skip

    async def beat(self, rights: Rights, node_id: NodeId, said: BridgeBeat) -> BridgeOrders:
        """Take a sign of life in, and return what is next for the bridge, as soon as there is something.

        Raises:
            BridgeReplaced, SessionOver: the session is over.
        """
        runner, node = runner_of(rights.token, node_id, said.session), await self._node(node_id)
        loop = asyncio.get_running_loop()
        until, holding = loop.time() + said.wait_s, tuple(dict.fromkeys(said.holding))

        def hear(transaction: Transaction, now: datetime) -> Heard:
            return self._entering.hear(transaction, now, runner, node, holding=holding, taking=said.taking)

        heard = await self._board.write(hear)
        while not (heard.orders or heard.lost or self._board.hastens) and (left_s := until - loop.time()) > 0:
            await self._board.rest(left_s)
            if await self._has_news(runner, holding):
                heard = await self._board.write(hear)
        for charge in heard.kept:
            await self._stewards.see_to(charge)
        told = [BridgeOrder(order=each.order, allocation=each.held.allocation) for each in heard.orders]
        return BridgeOrders(orders=tuple(told), lost=heard.lost)

    async def leave(self, rights: Rights, node_id: NodeId, session: str) -> None:
        """Let a session end; its orders go on elsewhere, from their last finished step."""
        runner, node = runner_of(rights.token, node_id, session), await self._node(node_id)
        await self._board.write(lambda tx, _: self._entering.leave(tx, runner, node))

    async def next(self, rights: Rights, node_id: NodeId, order_id: OrderId, said: BridgeAsk) -> BridgeNext:
        """Return the next call of an order, or its end; see `Orders.next`."""
        return await self._orders.next(_hand(rights, node_id, order_id, said), said)

    async def intent(self, rights: Rights, node_id: NodeId, order_id: OrderId, said: BridgeIntent) -> BridgeVerdict:
        """Say whether the effect of a call may happen now; see `Orders.intent`."""
        return await self._orders.intent(_hand(rights, node_id, order_id, said), said)

    async def receipt(self, rights: Rights, node_id: NodeId, order_id: OrderId, said: BridgeReceipt) -> BridgeTaken:
        """Keep how a call ended; see `Orders.receipt`."""
        return await self._orders.receipt(_hand(rights, node_id, order_id, said), said)

    async def give_back(self, rights: Rights, node_id: NodeId, order_id: OrderId, said: BridgeWord) -> None:
        """Take an order from a bridge that does not go on with it; it goes on elsewhere, or there again."""
        await self._orders.give_back(_hand(rights, node_id, order_id, said))

    def hasten(self) -> None:
        """Answer at once whoever waits for something: this process takes no more requests."""
        self._board.hasten()

    async def close(self) -> None:
        """Leave what is in progress to other processes."""
        await self._stewards.close()

    async def _has_news(self, runner: str, holding: Collection[OrderId]) -> bool:
        """Look whether a sign of life would bring something; nothing is written."""
        now, table = self._board.clock.now(), cluster_orders

        def look(connection: Connection) -> bool:
            if standing.glance(connection, now, self._board.rules, runner).needs_writing:
                return True
            mine = table.c.stage.in_([int(stage) for stage in IN_HAND]), table.c.runner == runner
            in_hand = {row[0] for row in connection.execute(select(table.c.order_id).where(*mine))}
            return in_hand != set(holding)

        return await self._board.store.reader.in_thread(look)

    async def _node(self, node_id: NodeId) -> Node:
        query = select(cluster_nodes.c.facts).where(cluster_nodes.c.node == node_id)
        rows = await self._board.store.reader.rows(query)
        if not rows:
            raise session_over(node_id)
        return node_from(node_id, bytes(rows[0][0]))


def _node_of(rights: Rights, declared: BridgeNode) -> Node:
    """Return the node; its id follows from the token and the name, so that nobody else can be it."""
    digest = sha256(f"{rights.token}/{declared.name}".encode()).digest()
    labels = [
        *declared.labels,
        *map(carries, declared.capabilities),
        *map(serves, rights.organisations),
        *([ASKS_FIRST] if declared.asks_first else []),
    ]
    lacks = tuple(str(lack) for lack in Lack)
    return Node(NodeId(f"node/{ULID(digest[:16])}"), declared.slots, tuple(dict.fromkeys(labels)), FOREIGN, lacks)


def _hand(rights: Rights, node_id: NodeId, order_id: OrderId, said: BridgeWord) -> Hand:
    return Hand(runner_of(rights.token, node_id, said.session), node_id, order_id, said.slot_id, said.fence)
