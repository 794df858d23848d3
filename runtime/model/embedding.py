"""Vectors of texts from the endpoint: the model of the role `embed`, behind the port of the search."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runtime.errors import SiliconError
from runtime.model.course import Course
from runtime.model.endpoint import Endpoint
from runtime.model.errors import ModelRefused
from runtime.model.limits import Limiter, room_in
from runtime.search.port import EmbedderUnavailable
from runtime.settings.models import ModelSettings

if TYPE_CHECKING:
    from runtime.search.port import Vector

_AT_ONCE = 4
"""Requests for one list of texts that are under way at once: others of the organisation want room as well."""
_TOO_MUCH = (400, 413, 422)
"""How endpoints refuse more texts, or a longer one, than they take."""
_SHORTEST = 200
"""Characters to which a text that is refused may be cut: any model takes that many."""


class EndpointEmbedder:
    """Embeds by requests of so many texts. Once it fails it rests: nobody waits again for an endpoint that is away.

    How many texts a request may hold, and how long one may be, no endpoint tells: one that refuses is asked with half.
    """

    def __init__(self, endpoint: Endpoint, model: str, *, limiter: Limiter, settings: ModelSettings,
                 now: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        """Take over which model is asked, and how."""
        self._endpoint = endpoint
        self._model = model
        self._limiter = limiter
        self._settings = settings
        self._now = now
        self._batch = settings.embed_batch
        self._size = 0
        self._rests_until = 0.0
        self._failed = ""

    @property
    def name(self) -> str:
        """The model, and what else its vectors depend on: where it is, and what is put before its texts."""
        told = (self._endpoint.base_url, self._settings.embed_query_prefix, self._settings.embed_passage_prefix)
        return f"{self._model}@{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}"

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of things that are looked for; see the port."""
        prefix, wait_s = self._settings.embed_query_prefix, self._settings.embed_s
        return await self._embed([prefix + text for text in texts], wait_s)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found; see the port.

        These may be many, and a server on a small machine slow: each request may take as long as an answer may.
        """
        return await self._embed([self._settings.embed_passage_prefix + text for text in texts], None)

    async def _embed(self, texts: Sequence[str], wait_s: float | None) -> list[Vector]:
        if self._now() < self._rests_until:
            raise EmbedderUnavailable(self._failed, model=self._model)
        room = asyncio.Semaphore(_AT_ONCE)

        async def embed(part: Sequence[str]) -> list[Vector]:
            async with room:
                return (await self._part(part, wait_s))[0]

        size = self._batch
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(embed(texts[at : at + size])) for at in range(0, len(texts), size)]
        except ExceptionGroup as errors:
            error = _the_one_in(errors)
            self._rests_until = self._now() + self._settings.embed_rest_s
            self._failed = f"{self._model} gives no vectors: {error.message}"
            raise EmbedderUnavailable(self._failed, model=self._model, error=error.code) from error
        return [vector for task in tasks for vector in task.result()]

    async def _part(self, texts: Sequence[str], wait_s: float | None) -> tuple[list[Vector], bool]:
        """Return the vectors of the texts of one request, and whether it was taken as it was."""
        try:
            return self._vectors(await self._asked(list(texts), wait_s)), True
        except ModelRefused as error:
            if error.facts.get("status") not in _TOO_MUCH or (len(texts) == 1 and len(texts[0]) <= _SHORTEST):
                raise
        if len(texts) == 1:
            return (await self._part([texts[0][: max(_SHORTEST, len(texts[0]) // 2)]], wait_s))[0], False
        half = (len(texts) + 1) // 2
        first, taken = await self._part(texts[:half], wait_s)
        second, also_taken = await self._part(texts[half:], wait_s)
        if taken and also_taken:  # else it was one text that was too long
            self._batch = min(self._batch, half)
        return [*first, *second], False

    async def _asked(self, texts: list[str], wait_s: float | None) -> list[list[float]]:
        try:
            async with asyncio.timeout(wait_s), room_in(self._limiter, Course()):
                return await self._endpoint.embed(self._model, texts)
        except TimeoutError:
            raise EmbedderUnavailable(
                f"{self._endpoint.where} gave none within {wait_s:g} s. Look whether it hangs or is full; how long it "
                "is waited for is the setting model.embed_s."
            ) from None

    def _vectors(self, rows: list[list[float]]) -> list[Vector]:
        """Return what came as vectors of length 1; raise EmbedderUnavailable for what cannot be compared."""
        import numpy as np

        found: list[Vector] = []
        for row in rows:
            vector: Vector = np.asarray(row, dtype=np.float32)
            length = float(np.linalg.norm(vector))
            if not vector.size or not np.isfinite(length) or length == 0.0:
                raise EmbedderUnavailable(
                    f"{self._endpoint.where} gave a vector that has no direction ({vector.size} numbers, length "
                    f"{length:g}). Is {self._model} a model for embeddings?"
                )
            self._size = self._size or vector.size
            if vector.size != self._size:
                raise EmbedderUnavailable(
                    f"{self._endpoint.where} gave a vector of {vector.size} numbers where others have {self._size}. "
                    "Vectors of one model have one size; start anew if it was changed for another."
                )
            found.append(vector / np.float32(length))
        return found


def _the_one_in(errors: ExceptionGroup[Exception]) -> SiliconError:
    """Return the first error of ours; raise the group where there is anything else in it."""
    ours, others = errors.split(SiliconError)
    if ours is None or others is not None:
        raise errors
    first: BaseException = ours
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, SiliconError)
    return first
