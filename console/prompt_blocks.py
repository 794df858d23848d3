"""What the models of every execution of an organisation are told, as it was pinned when the execution began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agents.employee.introduction import Introduction
from agents.organisation import Organisation
from contracts import Name
from governance.policies import ToldPolicies
from memory.behaviour.behaviour import BehaviourKind
from memory.behaviour.told import Behaviours, ToldBehaviour
from memory.consolidation.told import ToldMemories
from memory.knowledge.told import ToldReading, ToldResident
from memory.personal.told import ToldPerson
from runtime.clock import Clock
from runtime.context.blocks import Block
from runtime.ledger.port import Ledger
from runtime.search import Embedder
from runtime.settings.load import Settings

if TYPE_CHECKING:
    from memory.room import MemoryRoom


def blocks_for(
    organisation: Organisation, ledger: Ledger, settings: Settings, *, clock: Clock,
    memory: Callable[[], MemoryRoom], embedder: Callable[[], Embedder | None],
) -> Sequence[Block]:  # fmt: skip
    """Return the blocks; `memory` is asked for where a skill declares that it needs it."""

    def declares(skill: Name) -> bool:
        declared = organisation.skills.get(skill)
        return declared is not None and declared.memory

    behaviours = Behaviours(organisation.behaviours, ledger, settings.memory, embedder)
    return (
        Introduction(organisation),
        ToldPolicies(organisation.rules, settings.context),
        ToldResident(organisation.knowledge),
        *(ToldBehaviour(kind, behaviours, settings.memory) for kind in BehaviourKind),
        ToldMemories(lambda: memory().opening, clock, declares),
        ToldPerson(lambda: memory().profiles, declares, lambda who: organisation.people.get(who) is not None),
        ToldReading(organisation.knowledge, ledger),
    )
