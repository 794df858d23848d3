"""What must hold when an effect is about to happen, checked by code."""

from governance.policies.book import Breach, PolicyBook
from governance.policies.policy import Policy, PolicyExample, PolicyRequest, run_examples

__all__ = ["Breach", "Policy", "PolicyBook", "PolicyExample", "PolicyRequest", "run_examples"]
