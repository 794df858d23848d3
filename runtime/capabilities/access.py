"""What a gate may offer beside standing before effects: asking people about access that was refused."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from runtime.capabilities.port import Allowed, EffectRequest, Refused, Told, Waiting


@runtime_checkable
class AsksForAccess(Protocol):
    """A gate that puts a call to people to which the other side did not let us in."""

    async def access(self, request: EffectRequest, why: str) -> Allowed | Waiting | Told | Refused | None:
        """Say what people decided about the call: it may be tried again, it was done by hand, or it is left.

        A card of `request.pending` answers; where there is none, or it was about another call that was done by hand,
        Waiting raises one. None: nobody could decide, so that nobody is asked.

        Args:
            request: the call; it may be one that changes nothing.
            why: what the other side said.
        """
        ...
