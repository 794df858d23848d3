"""The policies that hold now for one execution: those it was started with, and those of the folder as it stands.

A policy can only forbid, so the two together are never looser than what was pinned: one that became stricter, or is
new, counts at the next call of work that runs already; one that became looser counts for work that starts later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from contracts import Effect, Json, TaskOrder
from governance.policies.book import PolicyBook
from governance.policies.policy import Policy, PolicyRequest
from runtime.capabilities.port import CapabilitySpec, Refused
from runtime.errors import NotFound, OrganisationFaulty


class StandingPolicies:
    """Judges every call of the capabilities of one organisation; an `ActionCheck`.

    Args:
        pinned: those that the work was started with.
        now: returns those of the folder; raises NotFound without a folder, OrganisationFaulty where one cannot be read.
    """

    def __init__(self, pinned: Sequence[Policy], now: Callable[[], Sequence[Policy]]) -> None:
        self._pinned = tuple(pinned)
        self._now = now
        self._joined: tuple[Sequence[Policy], PolicyBook] | None = None

    def book(self) -> PolicyBook:
        """Return the policies that hold; raise OrganisationFaulty where those of the folder cannot be read."""
        try:
            now = self._now()
        except NotFound:
            now = ()
        if self._joined is None or self._joined[0] is not now:
            added = [policy for policy in now if policy not in self._pinned]
            self._joined = (now, PolicyBook((*self._pinned, *added)))
        return self._joined[1]

    def refusal(self, order: TaskOrder, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> Refused | None:
        """Return the no to a call; see `ActionCheck`.

        While a rule of the folder cannot be read, what changes nothing goes by those that were read last or pinned.
        """
        try:
            book = self.book()
        except OrganisationFaulty as fault:
            if spec.effect is not Effect.READ:
                fault.facts["happened"] = "no"
                raise
            book = self._joined[1] if self._joined is not None else PolicyBook(self._pinned)
        if not book.concerns(spec.name, spec.effect):
            return None
        request = PolicyRequest.made_by(order, spec, arguments)
        breach = book.violated_by(request)
        return None if breach is None else breach.refused(request, order.language)
