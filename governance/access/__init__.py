"""People, their roles and groups, who may decide; and whom requests from outside speak for."""

from governance.access.departments import Departments
from governance.access.people import People, Person, Refusal, Role, Scope, Why
from governance.access.principals import BridgeRights, Principal
from governance.access.rate_limits import RateLimiter
from governance.access.sight import EVERYTHING, Sight
from governance.access.tokens import Token, Tokens

__all__ = [
    "EVERYTHING",
    "BridgeRights",
    "Departments",
    "People",
    "Person",
    "Principal",
    "RateLimiter",
    "Refusal",
    "Role",
    "Scope",
    "Sight",
    "Token",
    "Tokens",
    "Why",
]
