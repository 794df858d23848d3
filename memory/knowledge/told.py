"""Knowledge in prompts: the resident layer in every one, and what the order and those above it have opened already."""

from __future__ import annotations

from collections.abc import Sequence

from memory.knowledge.reading import ReadingLog
from memory.knowledge.tree import KnowledgeTree, domain_of
from runtime.context.blocks import MEMORY, STRATEGIES, About
from runtime.context.parts import Part
from runtime.ledger.port import Ledger


class ToldResident:
    """What must hold in every turn, and where to look; it cannot be compressed away."""

    name = STRATEGIES
    moves = False

    def __init__(self, tree: KnowledgeTree) -> None:
        self._tree = tree

    async def parts(self, about: About) -> Sequence[Part]:
        """Return the resident layer, addresses of domains that the order has not left out."""
        there = {"", *about.order.knowledge_scope}
        lines = [f"- {each.text}" for each in self._tree.imperatives]
        lines += [f"- {each.title}: {each.when}" for each in self._tree.addresses if domain_of(each.path) in there]
        if not lines:
            return ()
        told = "\n".join(["What holds here in every turn, and what can be looked up (knowledge_open):", *lines])
        return (Part(STRATEGIES, told, "the resident knowledge", pinned=True),)


class ToldReading:
    """Titles of what was opened in earlier steps and by the orders above: it can be opened again at no cost."""

    name = MEMORY
    moves = True

    def __init__(self, tree: KnowledgeTree, ledger: Ledger) -> None:
        self._tree = tree
        self._log = ReadingLog(ledger)

    async def parts(self, about: About) -> Sequence[Part]:
        """Return one part, nothing where nothing was opened."""
        if not self._tree.bodies:
            return ()
        there = {"", *about.order.knowledge_scope}
        opened = (await self._log.of(about.order.order_id)).opened
        paths = dict.fromkeys((*opened, *await self._log.inherited(about.order)))
        lines = [
            f"- {self._tree.bodies[path].title} ({path})"
            for path in paths
            if path in self._tree.bodies and domain_of(path) in there
        ]
        if not lines:
            return ()
        head = "Knowledge that was opened for this work before (knowledge_open with `open` gives it again):"
        return (Part(MEMORY, "\n".join([head, *lines]), "the knowledge read so far"),)
