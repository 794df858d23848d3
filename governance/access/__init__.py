"""People, their roles and groups, who may decide; and whom requests from outside speak for."""

from governance.access.people import People, Person, Refusal, Role, Why
from governance.access.principals import BridgeRights, Principal
from governance.access.rate_limits import RateLimiter
from governance.access.tokens import Token, Tokens

__all__ = ["BridgeRights", "People", "Person", "Principal", "RateLimiter", "Refusal", "Role", "Token", "Tokens", "Why"]
