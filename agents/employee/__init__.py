"""One employee of the tree: plans, dispatches, reflects, synthesises."""

from agents.employee.dispatch import Dispatcher
from agents.employee.employee import Employee
from agents.employee.ports import Cluster, Staff, Workforce
from agents.employee.root import root_order

__all__ = ["Cluster", "Dispatcher", "Employee", "Staff", "Workforce", "root_order"]
