"""Nodes and their slots."""

from __future__ import annotations

from pathlib import Path

from cluster import Node, this_node
from cluster.sandbox.rlimits import FIRST_UID
from contracts import NodeId
from runtime.settings import SlotSettings


def test_every_process_of_a_home_is_the_same_node(tmp_path: Path) -> None:
    first, second = (this_node(tmp_path, SlotSettings(), labels=(), cannot_enforce=()) for _ in range(2))

    assert first == second
    assert first.slot_id(0) != first.slot_id(1)
    assert [path.name for path in tmp_path.iterdir()] == ["node"]


def test_slots_of_two_nodes_of_a_machine_have_no_user_in_common() -> None:
    ids = (NodeId("node/01JB0000000000000000000NDE"), NodeId("node/01JB0000000000000000000NDF"))
    users = [Node(node_id, 1_000).user_of(index) for node_id in ids for index in range(1_000)]

    assert len(set(users)) == len(users)
    assert min(users) > 0 and FIRST_UID + max(users) < 2**31
