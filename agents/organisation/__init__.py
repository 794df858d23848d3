"""The organisation folder: read, checked, pinned, and searched for the skill that fits a goal."""

from agents.organisation.budgets_now import BudgetsNow
from agents.organisation.bundle import bundle
from agents.organisation.environment import variables_in
from agents.organisation.fault import Fault, Report
from agents.organisation.files import FileRefused
from agents.organisation.loader import (
    check,
    load,
    load_bundle,
    look,
    people_in_bundle,
    read_budgets,
    read_name,
    read_people,
    read_rules,
    read_told,
)
from agents.organisation.model import EmployeeNode, Organisation, Skill
from agents.organisation.routing import Fit, Route, route
from agents.organisation.rules_now import RulesNow

__all__ = [
    "BudgetsNow",
    "EmployeeNode",
    "Fault",
    "FileRefused",
    "Fit",
    "Organisation",
    "Report",
    "Route",
    "RulesNow",
    "Skill",
    "bundle",
    "check",
    "load",
    "load_bundle",
    "look",
    "people_in_bundle",
    "read_budgets",
    "read_name",
    "read_people",
    "read_rules",
    "read_told",
    "route",
    "variables_in",
]
