"""How whoever asked likes to be answered, in the prompts of orders whose skill declares that it needs memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contracts import Name
from memory.personal.acting import guidance
from runtime.context.blocks import MEMORY, About
from runtime.context.parts import Part

if TYPE_CHECKING:
    from memory.personal.book import ProfileBook


class ToldPerson:
    """A few lines about form and explanation; nothing of what the person looks at, and nothing of anybody else."""

    name = MEMORY
    moves = True

    def __init__(
        self, profiles: Callable[[], ProfileBook], declares: Callable[[Name], bool], is_person: Callable[[str], bool]
    ) -> None:
        """Take what knows people, which skills declare memories, and who is a person of the organisation."""
        self._profiles = profiles
        self._declares = declares
        self._is_person = is_person

    async def parts(self, about: About) -> Sequence[Part]:
        """Return one part, nothing where nothing is known."""
        order = about.order
        if order.skill is None or not self._declares(order.skill) or not self._is_person(order.requested_by):
            return ()
        told = guidance(await self._profiles().get(order.requested_by))
        if not told:
            return ()
        return (Part(MEMORY, f"Whoever asked for this likes it so:\n{told}", "the profile of who asked"),)
