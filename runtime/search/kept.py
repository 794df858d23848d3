"""Vectors that were made once, kept in a folder, so that the next process need not make them again."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.search.port import Embedder

if TYPE_CHECKING:
    from runtime.search.port import Vector

_log = logging.getLogger(__name__)


class KeptVectors:
    """An embedder whose passages are looked up by the hash of their text first.

    The folder may be deleted at any time. A file that cannot be used is made anew.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._folder = folder / embedder.name

    @property
    def name(self) -> str:
        """Name of the model that makes them."""
        return self._embedder.name

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of something that is looked for; these are not kept."""
        return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found, in their order."""
        known = await asyncio.to_thread(self._read, texts)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            made = dict(zip(missing, await self._embedder.embed_passages(missing), strict=True))
            known.update(made)
            try:
                await asyncio.to_thread(self._write, made)
            except OSError as error:  # nothing is lost but time
                _log.warning("vectors could not be kept", extra={"folder": str(self._folder), "error": str(error)})
        return [known[text] for text in texts]

    def _read(self, texts: Sequence[str]) -> dict[str, Vector]:
        import numpy as np

        found: dict[str, Vector] = {}
        for text in dict.fromkeys(texts):
            try:
                vector = np.frombuffer(self._path(text).read_bytes(), dtype="<f4")
            except (OSError, ValueError):  # not there, or cut off
                continue
            if vector.size and abs(float(vector @ vector) - 1) < 0.01:
                found[text] = vector
        return found

    def _write(self, made: dict[str, Vector]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for text, vector in made.items():
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(vector.astype("<f4").tobytes())
                Path(name).replace(self._path(text))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def _path(self, text: str) -> Path:
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.f32"
