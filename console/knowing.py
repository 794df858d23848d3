"""Knowledge folders as people look after them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from console.folders import folder_of
from console.resources import Resources
from console.views_knowledge import KnowledgeFinding, KnowledgeLinted, KnowledgePlaced
from contracts import Name
from runtime.errors import NotFound

if TYPE_CHECKING:
    from memory.knowledge.folder import KnowledgeFolder


class Knowing:
    """The port `KnowledgePort`."""

    _resources: Resources

    async def lint_knowledge(self, folder: Path, *, fix: bool = False) -> KnowledgeLinted:
        """Return what is wrong; see the port."""
        return await asyncio.to_thread(self._lint, _knowledge(folder), fix)

    async def place_knowledge(
        self, folder: Path, text: str, *, nature: str, every_turn: bool = False, when: str = "", exact: bool = False,
        write: bool = False, title: str = "", domain: Name | None = None,
    ) -> KnowledgePlaced:  # fmt: skip
        """Return where something belongs; see the port."""
        from memory.knowledge.placement import Answers, Nature, place
        from memory.knowledge.tree import read_tree
        from memory.knowledge.writing import Note, write_note

        known, settings = _knowledge(folder), self._resources.settings.memory
        answers = Answers(every_turn, when, exact, Nature(nature))
        if not write:
            placement = place(text, answers, read_tree(known.texts())[0], settings)
            return KnowledgePlaced(placement.layer.value, placement.why, placement.in_full)
        note, today = Note(text, title, domain or ""), self._resources.clock.now().date()
        done = await asyncio.to_thread(write_note, known, note, answers, today=today, settings=settings)
        placed = done.placement
        return KnowledgePlaced(placed.layer.value, placed.why, placed.in_full, done.path, done.index)

    def _lint(self, known: KnowledgeFolder, fix: bool) -> KnowledgeLinted:
        from memory.knowledge.faults import KnowledgeFault
        from memory.knowledge.lint import lint
        from memory.knowledge.tree import PENDING, entries_of, read_tree
        from memory.knowledge.writing import mend

        settings, today = self._resources.settings.memory, self._resources.clock.now().date()
        mended = mend(known, settings) if fix else 0
        texts = known.texts()
        faults = lint(texts, today, settings)
        if known.interrupted:
            faults.insert(0, KnowledgeFault(PENDING, 0, "A write was interrupted here.", "`--fix` finishes it."))
        tree, _ = read_tree(texts)
        findings = [KnowledgeFinding(each.file, each.line, each.what, each.hint, each.grave) for each in faults]
        return KnowledgeLinted(findings, len(texts), len(list(entries_of(tree))), len(tree.bodies), mended)


def _knowledge(folder: Path) -> KnowledgeFolder:
    from memory.knowledge.folder import KnowledgeFolder

    found = folder_of(folder)
    if not (found / "org.yaml").is_file():
        raise NotFound(f"There is no organisation in {folder}: it has no org.yaml.", folder=str(folder))
    return KnowledgeFolder(found)
