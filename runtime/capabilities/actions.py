"""What stands before every call of a capability, whatever its effect and whoever makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from contracts import Json, TaskOrder
from runtime.capabilities.port import CapabilitySpec, Refused
from runtime.errors import PermissionRefused

POLICY_VIOLATED = "POLICY_VIOLATED"


class ActionCheck(Protocol):
    """Says whether a call may be made, right before it is; the router asks it on every road to a capability."""

    def refusal(self, order: TaskOrder, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> Refused | None:
        """Return why the call must not be made, None when it may be.

        Raises:
            OrganisationFaulty: what must hold cannot be read now, and the call would change something.
        """
        ...


class ActionRefused(PermissionRefused):
    """A rule does not let the action happen; its facts name the rule, its version and the hash of the request."""

    def __init__(self, refused: Refused, use: str) -> None:
        facts = {**refused.facts, "use": use, "happened": "no"}
        super().__init__(f"{use} was not carried out: {refused.reason}", **facts)
        self.code = refused.code  # type: ignore[misc]  # the gate's own code: DENIED, EXPIRED, POLICY_VIOLATED, …
