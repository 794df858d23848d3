"""Which order is next, and which slot it gets, without a database."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster import Node
from cluster.control_plane.matcher import Head, Offer, Wants, choose_next, choose_slot, fits, turn_of
from contracts import ExecutionId, NodeId, OrderId

ANYTHING = Wants((), (), None)
EXECUTION = ExecutionId.new()


def a_node(number: int = 0, slots: int = 2, **facts: tuple[str, ...]) -> Node:
    return Node(NodeId(f"node/{number:026d}"), slots, **facts)  # type: ignore[arg-type]


def an_offer(node: Node, *free: int, runner: str | None = "resident", warm: tuple[int, ...] = ()) -> Offer:
    return Offer(node, list(free), runner, frozenset({"own"}), warm)


def a_head(seq: int = 1, *, line: int = 0, turn: int = 0, submitter: str = "other", wants: Wants = ANYTHING) -> Head:
    return Head(seq, OrderId.new(), EXECUTION, line, turn, submitter, wants)


def test_a_node_fits_only_with_every_label() -> None:
    node = a_node(labels=("linux", "browser"))

    assert fits(node, Wants(("browser", "linux"), (), None))
    assert not fits(node, Wants(("browser", "gpu"), (), None))


def test_an_order_is_not_placed_where_a_limit_it_needs_cannot_be_held() -> None:
    node = a_node(cannot_enforce=("network", "disk"))

    assert fits(node, Wants((), ("processes",), None))
    assert not fits(node, Wants((), ("network",), None))


def test_the_least_loaded_node_is_chosen_and_there_a_warm_slot() -> None:
    busy, idle = an_offer(a_node(1, slots=4), 0), an_offer(a_node(2, slots=3), 0, 1, 2, warm=(2,))

    assert choose_slot([busy, idle], a_head()) == (idle, 2)


def test_of_equally_loaded_nodes_the_one_with_a_warm_slot_is_chosen() -> None:
    cold, warm = an_offer(a_node(1), 0, 1), an_offer(a_node(2), 0, 1, warm=(1,))

    assert choose_slot([cold, warm], a_head()) == (warm, 1)


def test_a_node_that_serves_only_its_own_takes_no_order_of_others() -> None:
    offer = an_offer(a_node(), 0, runner=None)

    assert choose_slot([offer], a_head(submitter="other")) is None
    assert choose_slot([offer], a_head(submitter="own")) == (offer, 0)


def test_whoever_submitted_an_order_carries_it_out_itself_where_it_can() -> None:
    offer = an_offer(a_node(), 0)

    assert (offer.runner_for("own"), offer.runner_for("other")) == ("own", "resident")


def test_priority_goes_before_turn_and_turn_before_age() -> None:
    heads = [a_head(1, turn=5), a_head(2, turn=4), a_head(3, line=-1, turn=9)]
    order = []
    while heads:
        chosen = choose_next(heads, [an_offer(a_node(), 0)])
        assert chosen is not None
        heads.remove(chosen[0])
        order.append(chosen[0].seq)

    assert order == [3, 2, 1]


def test_an_order_that_nothing_fits_does_not_stand_before_others() -> None:
    stuck, other = a_head(1, wants=Wants(("gpu",), (), None)), a_head(2)
    chosen = choose_next([stuck, other], [an_offer(a_node(), 0)])

    assert chosen is not None
    assert chosen[0] is other


def test_the_same_wants_have_the_same_key_in_any_order() -> None:
    assert Wants(("a", "b"), ("x",), None).key == Wants(("b", "a", "a"), ("x",), None).key
    assert Wants(("a",), (), None).key != Wants((), ("a",), None).key


@pytest.mark.parametrize("seed_with_many", [True, False])
@given(arrivals=st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=120))
def test_an_execution_waits_for_at_most_one_order_of_each_other(
    arrivals: list[tuple[int, bool]], seed_with_many: bool
) -> None:
    """Each arrival is an order of one of four executions; with the flag, one order is served first."""
    queue: list[tuple[int, int, int]] = []
    used: dict[int, int] = {}
    served: tuple[int, str] | None = None
    age = 0
    waited: dict[int, Counter[int]] = {}

    def arrive(execution: int) -> None:
        nonlocal age
        turn = turn_of(str(execution), served, used.get(execution, 0))
        used[execution] = turn + 1
        if not any(each[1] == execution for each in queue):
            waited[execution] = Counter()
        queue.append((turn, execution, age))
        age += 1

    def serve() -> None:
        nonlocal served
        turn, execution, _ = first = min(queue)
        queue.remove(first)
        served = max(served or (0, ""), (turn, str(execution)))
        assert all(count <= 1 for count in waited[execution].values())
        waited[execution] = Counter()
        for other in {each[1] for each in queue}:
            waited[other][execution] += 1

    for _ in range(50 if seed_with_many else 0):
        arrive(0)
    for execution, serve_one in arrivals:
        arrive(execution)
        if serve_one:
            serve()
    while queue:
        serve()
