"""An embedder that knows a few meanings: texts that share one are near, whatever their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.search import EmbedderUnavailable


class FakeEmbedder:
    """Each meaning is a direction of its own; a text points to the meanings whose words stand in it."""

    name = "fake"

    def __init__(self, meanings: Mapping[str, Sequence[str]]) -> None:
        self.meanings = meanings
        self.embedded: list[str] = []
        """Passages that it was given, in order."""
        self.asked: list[str] = []
        """Queries that it was given, in order."""
        self.failure: EmbedderUnavailable | None = None
        """What is raised instead of vectors."""

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        assert all(text.strip() for text in texts), "an empty text is never embedded"
        self.asked += texts
        if self.failure is not None:
            raise self.failure
        return [self._vector(text) for text in texts]

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        assert all(text.strip() for text in texts), "an empty text is never embedded"
        if self.failure is not None:
            raise self.failure
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> NDArray[np.float32]:
        said = [float(any(word in text.casefold() for word in words)) for words in self.meanings.values()]
        vector = np.array([*said, 0.1], dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))
