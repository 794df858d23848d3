"""Which host an employee sits in. It follows from the tree and the hosts alone, so that nobody has to be asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agents.employee.ports import Staff
from agents.employee.tree import everyone
from agents.workforce.ray.messages import Address
from contracts import Name


class Seating:
    """The employees of one organisation, spread over hosts.

    In reading order of the tree each host gets an equal share, so that a manager mostly sits with those below. When a
    host is lost its employees move to the next one that is not; everybody else stays, so that an order in progress is
    found where it is, whoever asks for it.
    """

    def __init__(self, staff: Staff) -> None:
        nodes = list(everyone(staff.head))
        self._number = {node.id: number for number, node in enumerate(nodes)}
        self._apart = frozenset(node.id for node in nodes if node.isolation == "process")

    def sits_apart(self, employee: Name) -> bool:
        """Whether the employee asks for a process of its own."""
        return employee in self._apart

    def host_of(self, employee: Name, hosts: Sequence[Address], lost: Collection[Address]) -> Address | None:
        """Return the host of the employee; None when all are lost."""
        first = self._number.get(employee, 0) * len(hosts) // len(self._number)
        ring = (*hosts[first:], *hosts[:first])
        return next((host for host in ring if host not in lost), None)
