"""What an organisation has learnt to do, in order of authority.

platform protocol > active policy > the user's instruction > active strategy > action chain

Policies are `governance.policies`: hard, checked at every action. A strategy is a preference and may give way; an
action chain is a sequence that worked, and gives way to all of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from contracts import Name, Text


class BehaviourKind(StrEnum):
    """What it is; the first outranks the second."""

    STRATEGY = "strategy"
    CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One strategy or action chain."""

    kind: BehaviourKind
    name: Name
    text: Text
    """What is preferred, or what the sequence is for."""
    when: str = ""
    """Situations in which it is needed, for finding it; empty: in all of its domain."""
    domain: Name | None = None
    """The business domain of which it is; of others nobody hears of it. None: of all."""
    steps: tuple[Text, ...] = ()
    """Of a chain: what is done, in order."""
    preloaded: bool = False
    """Whether it is told without being looked for."""
