"""What must hold when an effect is about to happen, checked by code."""

from governance.policies.book import Breach, PolicyBook
from governance.policies.policy import Policy, PolicyExample, PolicyRequest, run_examples
from governance.policies.told import ToldPolicies

__all__ = ["Breach", "Policy", "PolicyBook", "PolicyExample", "PolicyRequest", "ToldPolicies", "run_examples"]
