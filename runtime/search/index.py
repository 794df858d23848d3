"""Documents that are found by their words and, with an embedder, by what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from runtime.canonical import clean_text
from runtime.search.bm25 import Bm25
from runtime.search.port import Document, Embedder, Hit

if TYPE_CHECKING:
    from runtime.search.port import Vector

KEYWORD_SHARE = 0.4
"""Part of a score that its words make, where there is an embedder; measured by `bench/routing.py`."""


class SearchIndex:
    """An index in memory. It is made from its documents anew whenever a process needs it.

    The score of a hit is `share × words + (1 - share) × meaning`, each side between 0 and 1. The words are divided by
    the most that their query could score, so that one word of many, found by chance, stays small; the meaning lies
    between its least and greatest over the documents that were asked for, since cosines of one model all lie in a
    narrow band. A mix keeps how far apart two documents are, which ranks lose (Bruch, Gai, Ingber 2023,
    https://doi.org/10.1145/3596512).
    """

    def __init__(
        self, weights: Mapping[str, float], *, embedder: Embedder | None = None, keyword_share: float = KEYWORD_SHARE
    ) -> None:
        """Make an empty index.

        Args:
            weights: field of a document → how much a word in it counts; other fields are not searched.
            embedder: without one, words alone decide.
            keyword_share: 0 to 1; only used with an embedder.
        """
        self._weights = dict(weights)
        self._embedder = embedder
        self._share = keyword_share
        self._documents: dict[str, Document] = {}
        self._words = Bm25(weights)
        self._vectors: dict[str, dict[str, Vector]] = {}
        """Document → field → vector, for those that were searched with the embedder."""
        self._size = 0
        """Numbers of each of those vectors."""

    def __len__(self) -> int:
        return len(self._documents)

    def put(self, *documents: Document) -> None:
        """Take documents in, each in the place of one with the same id."""
        for document in documents:
            known = self._documents.get(document.id)
            if known is None or known.fields != document.fields:
                self._vectors.pop(document.id, None)
                self._words.add(document.id, document.fields)
            self._documents[document.id] = document

    def remove(self, *ids: str) -> None:
        """Forget documents; those that are not there are passed over."""
        for name in ids:
            self._documents.pop(name, None)
            self._vectors.pop(name, None)
            self._words.remove(name)

    async def search(
        self, query: str, *, top: int, where: Callable[[Document], bool] | None = None, by_words: bool = False
    ) -> list[Hit]:
        """Return the documents that fit best, best first; equals in order of their ids.

        With words alone, a document without a word of the query is no hit. With an embedder everything is one, more or
        less; `top` says how much of it is wanted. An empty query finds nothing.

        Args:
            query: what is looked for.
            top: hits at most.
            where: which documents are looked at.
            by_words: leave meaning aside, for instance because no vectors are to be had.

        Raises:
            EmbedderUnavailable: no vectors are to be had now.
        """
        query = clean_text(query).strip()
        among = {name: each for name, each in self._documents.items() if where is None or where(each)}
        if not query or not among:
            return []
        terms = self._words.scores(query, among)
        keyword = {name: sum(parts.values()) for name, parts in terms.items()}
        near = {} if by_words else await self._similarities(query, among.values())
        most = self._words.most(query)
        words = {name: score / most for name, score in keyword.items()}
        scores = _mixed(words, _spread(near), self._share) if near else words
        best = sorted(scores, key=lambda name: (-scores[name], name))[:top]
        return [
            Hit(among[name], scores[name], keyword.get(name, 0.0), near.get(name), _largest_first(terms.get(name, {})))
            for name in best
        ]

    async def _similarities(self, query: str, documents: Iterable[Document]) -> dict[str, float]:
        """Return document → cosine, the weighted mean over its fields; what has no vector yet gets one."""
        if self._embedder is None:
            return {}
        texts = {each.id: found for each in documents if (found := self._texts(each))}
        [wanted] = await self._embedder.embed_queries([query])
        if len(wanted) != self._size:  # the model was changed for another behind its name
            self._vectors.clear()
            self._size = len(wanted)
        await self._embed(self._embedder, {name: each for name, each in texts.items() if name not in self._vectors})
        return {name: self._near(self._vectors[name], wanted) for name in texts if name in self._vectors}

    async def _embed(self, embedder: Embedder, missing: Mapping[str, Mapping[str, str]]) -> None:
        documents = {name: self._documents[name] for name in missing}
        flat = [text for fields in missing.values() for text in fields.values()]
        made = iter(await embedder.embed_passages(flat) if flat else ())
        for name, fields in missing.items():
            vectors = {field: next(made) for field in fields}
            if self._documents.get(name) is documents[name]:  # it may have changed or gone meanwhile
                self._vectors[name] = vectors

    def _near(self, vectors: Mapping[str, Vector], wanted: Vector) -> float:
        total = sum(self._weights[field] for field in vectors)
        return sum(self._weights[field] * float(vector @ wanted) for field, vector in vectors.items()) / total

    def _texts(self, document: Document) -> dict[str, str]:
        texts = ((field, clean_text(document.fields.get(field, "")).strip()) for field in self._weights)
        return {field: text for field, text in texts if text}


def _spread(near: Mapping[str, float]) -> dict[str, float]:
    """Return the values between 0 for the least and 1 for the greatest; 1 where all are equal."""
    least, most = min(near.values(), default=0.0), max(near.values(), default=0.0)
    return {name: (value - least) / (most - least) if most > least else 1.0 for name, value in near.items()}


def _mixed(words: Mapping[str, float], meaning: Mapping[str, float], share: float) -> dict[str, float]:
    names = {**meaning, **words}
    return {name: share * words.get(name, 0.0) + (1 - share) * meaning.get(name, 0.0) for name in names}


def _largest_first(parts: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(parts.items(), key=lambda part: (-part[1], part[0])))
