"""Finds in the index layer: which entries fit a question, and how strongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.knowledge.lines import Entry
from memory.knowledge.tree import KnowledgeTree
from runtime.search import Document, Embedder, EmbedderUnavailable, SearchIndex

_WEIGHTS = {"when": 3.0, "title": 2.0, "text": 1.0}
"""An entry says when to open it: that counts most."""
_MOST = 500


@dataclass(frozen=True, slots=True)
class Found:
    """One entry that fits."""

    entry: Entry
    domain: str
    strength: float
    """0 to 1."""


class KnowledgeFinder:
    """Finds in one tree."""

    def __init__(self, tree: KnowledgeTree, embedder: Embedder | None = None) -> None:
        self._tree = tree
        self._index = SearchIndex(_WEIGHTS, embedder=embedder)
        self._entries: dict[str, tuple[Entry, str]] = {}
        for domain, section in tree.sections.items():
            for entry in section.entries:
                body = tree.bodies.get(entry.path)
                self._entries.setdefault(entry.path, (entry, domain))
                fields = {"when": entry.when, "title": entry.title, "text": body.text if body else ""}
                self._index.put(Document(entry.path, fields, {"domain": domain}))

    async def find(self, query: str, domains: Sequence[str]) -> list[Found]:
        """Return the entries of these domains that fit, strongest first; by words where no vectors are to be had."""
        wanted = set(domains)
        for by_words in (False, True):
            try:
                hits = await self._index.search(
                    query, top=_MOST, where=lambda each: each.metadata["domain"] in wanted, by_words=by_words
                )
            except EmbedderUnavailable:
                continue
            return [
                Found(*self._entries[hit.document.id], hit.score)
                for hit in hits
                if hit.document.id in self._tree.bodies
            ]  # fmt: skip
        return []
