"""Finds the strategies and action chains that fit a task: those of its domains and of none, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts import Name
from memory.behaviour.behaviour import Behaviour, BehaviourKind
from runtime.search import Document, Embedder, EmbedderUnavailable, SearchIndex
from runtime.texts import every_language

_WEIGHTS = {"when": 3.0, "text": 1.0, "steps": 1.0}
_LEAST = 0.1
"""Score under which a find says nothing."""


class BehaviourFinder:
    """Of one organisation, as it was pinned."""

    def __init__(self, behaviours: Iterable[Behaviour], embedder: Embedder | None = None) -> None:
        self._all = {f"{each.kind} {each.name}": each for each in sorted(behaviours, key=lambda each: each.name)}
        self._index = SearchIndex(_WEIGHTS, embedder=embedder)
        for key, each in self._all.items():
            fields = {
                "when": each.when, "text": " ".join(every_language(each.text)),
                "steps": " ".join(word for step in each.steps for word in every_language(step)),
            }  # fmt: skip
            self._index.put(Document(key, fields, {"kind": each.kind.value, "domain": each.domain}))

    def __len__(self) -> int:
        return len(self._all)

    def named(self, keys: Iterable[str], domains: Sequence[Name]) -> list[Behaviour]:
        """Return those of these keys (`strategy NAME`) that there are in these domains, each once."""
        found = (self._all.get(key) for key in dict.fromkeys(keys))
        return [each for each in found if each is not None and _within(each.domain, domains)]

    def preloaded(self, domains: Sequence[Name]) -> list[Behaviour]:
        """Return those that are told without being looked for."""
        return [each for each in self._all.values() if each.preloaded and _within(each.domain, domains)]

    async def find(self, task: str, kind: BehaviourKind, domains: Sequence[Name], *, top: int) -> list[Behaviour]:
        """Return those that fit a task, best first; by words where no vectors are to be had.

        One that is told anyway is not among them, nor one that no word of the task fits where words decide.
        """

        def where(document: Document) -> bool:
            each = self._all[document.id]
            return each.kind is kind and not each.preloaded and _within(each.domain, domains)

        for by_words in (False, True):
            try:
                hits = await self._index.search(task, top=top, where=where, by_words=by_words)
            except EmbedderUnavailable:
                continue
            return [self._all[hit.document.id] for hit in hits if hit.keyword > 0 and hit.score >= _LEAST]
        return []


def _within(domain: Name | None, domains: Sequence[Name]) -> bool:
    return domain is None or domain in domains
