"""What must hold when an action is about to be taken, checked by code."""

from governance.policies.book import Breach, PolicyBook
from governance.policies.policy import VARIABLES, Harm, Policy, PolicyExample, PolicyRequest, run_examples
from governance.policies.standing import StandingPolicies
from governance.policies.told import ToldPolicies

__all__ = [
    "VARIABLES",
    "Breach",
    "Harm",
    "Policy",
    "PolicyBook",
    "PolicyExample",
    "PolicyRequest",
    "StandingPolicies",
    "ToldPolicies",
    "run_examples",
]
