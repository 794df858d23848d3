"""Vectors of numbered memories in one matrix, found by meaning.

A query is compared with all of them in few dimensions first, and with the nearest in full: at a hundred thousand the
whole matrix alone would take longer to read than a search may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_SKETCH = 96
"""Dimensions of the first comparison."""
_NEAREST = 400
"""Texts that are compared in full."""
_WHOLE = 20_000
"""Up to so many texts all are compared in full at once."""
_SEED = 7


class VectorRows:
    """One vector for each number that has one; all of one size."""

    def __init__(self) -> None:
        self._rows: Floats | None = None
        self._sketch: Floats | None = None
        self._turn: Floats | None = None
        self._has = bytearray()

    def __contains__(self, number: int) -> bool:
        return number < len(self._has) and bool(self._has[number])

    @property
    def size(self) -> int | None:
        """Dimensions of the vectors; None while there are none."""
        return None if self._rows is None else int(self._rows.shape[1])

    def put(self, numbers: list[int], vectors: Floats) -> None:
        """Take vectors in, of length 1, one for each number."""
        import numpy as np

        most = max(numbers) + 1
        if self._rows is None or self._rows.shape[1] != vectors.shape[1]:  # the model is another one now
            self._rows = np.zeros((most, vectors.shape[1]), dtype=np.float32)
            self._has = bytearray(most)
            chance = np.random.default_rng(_SEED).standard_normal((vectors.shape[1], _SKETCH)).astype(np.float32)
            self._turn = np.linalg.qr(chance)[0] if vectors.shape[1] >= _SKETCH else None
            self._sketch = None if self._turn is None else np.zeros((most, _SKETCH), dtype=np.float32)
        if most > len(self._rows):
            more = max(most, len(self._rows) * 3 // 2) - len(self._rows)
            self._rows = np.vstack([self._rows, np.zeros((more, self._rows.shape[1]), dtype=np.float32)])
            if self._sketch is not None:
                self._sketch = np.vstack([self._sketch, np.zeros((more, _SKETCH), dtype=np.float32)])
        self._has.extend(bytes(len(self._rows) - len(self._has)))
        self._rows[numbers] = vectors
        if self._sketch is not None and self._turn is not None:
            self._sketch[numbers] = vectors @ self._turn
        for number in numbers:
            self._has[number] = 1

    def nearest(self, query: Floats, mask: NDArray[np.bool_], top: int) -> dict[int, float]:
        """Return number → cosine of the nearest among those of the mask that have a vector, nearest first."""
        import numpy as np

        if self._rows is None or self._rows.shape[1] != len(query):
            return {}
        size = min(len(mask), len(self._rows))
        there = mask[:size] & np.frombuffer(self._has, dtype=np.bool_)[:size]
        numbers = np.flatnonzero(there)
        if self._sketch is not None and self._turn is not None and len(numbers) > _WHOLE:
            rough = self._sketch[:size] @ (query @ self._turn)
            rough[~there] = -2.0
            numbers = np.argpartition(-rough, _NEAREST)[:_NEAREST]
            numbers = numbers[there[numbers]]
        near = self._rows[numbers] @ query
        best = np.argsort(-near, kind="stable")[:top]
        return {int(numbers[at]): float(near[at]) for at in best}

    def similarity(self, query: Floats, number: int) -> float | None:
        """Return the cosine with one, None where it has no vector."""
        if number not in self or self._rows is None or self._rows.shape[1] != len(query):
            return None
        return float(self._rows[number] @ query)
