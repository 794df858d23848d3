"""Who is below whom. Employees are named by id; a title is never a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from agents.employee.ports import Node
from contracts import Name
from runtime.errors import InvalidArguments

_KEPT = 4_096
_known: dict[int, tuple[Node, Mapping[Name, Node]]] = {}
"""Manager, by identity → itself and everyone at or below it. A tree never changes: another one has other nodes."""


def everyone(top: Node) -> Iterator[Node]:
    """Yield `top` and everyone below, managers before those they manage."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.manages))


def find(top: Node, employee: Name) -> Node:
    """Return the employee; raise InvalidArguments naming who is there when nobody at or below `top` has the id."""
    if employee == top.id:
        return top
    there = _by_id(top)
    if employee in there:
        return there[employee]
    near = get_close_matches(employee, there, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(there)}."
    raise InvalidArguments(
        f"There is no employee {employee} at or below {top.id}. {hint} An order goes only to somebody below the one "
        "who gives it, named by id.",
        employee=employee,
        below=top.id,
        there=list(there),
    )


def next_on_the_way(top: Node, target: Name) -> Node:
    """Return who directly below `top` is the target or manages it, at whatever depth."""
    for node in top.manages:
        if target == node.id or target in _by_id(node):
            return node
    raise InvalidArguments(f"{target} is not below {top.id}.", employee=target, below=top.id)


def nearest_with(top: Node, skill: Name) -> list[Node]:
    """Return who has the skill: `top` alone when it has it itself, else everyone below who has."""
    if skill in top.skills:
        return [top]
    return [node for node in everyone(top) if skill in node.skills]


def _by_id(top: Node) -> Mapping[Name, Node]:
    """Return everyone at or below `top` by id: every order asks several times, and a tree may hold thousands."""
    if not top.manages:
        return {top.id: top}
    held = _known.get(id(top))
    if held is None or held[0] is not top:
        if len(_known) >= _KEPT:
            _known.clear()
        held = _known[id(top)] = (top, {node.id: node for node in everyone(top)})
    return held[1]
