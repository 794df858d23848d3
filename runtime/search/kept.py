"""Vectors that were made once, kept in a folder, so that the next process need not make them again."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.search.port import Embedder

if TYPE_CHECKING:
    from runtime.search.port import Vector

_log = logging.getLogger(__name__)

_AT_ONCE = 256
"""Texts after which what was made is kept, so that whoever is interrupted need not begin anew."""
_PASSAGE, _QUERY = "", "query\0"
"""Put before a text to tell its forms apart; no text has a NUL."""


class KeptVectors:
    """An embedder whose vectors are looked up by the model and the hash of their text first.

    The folder may be deleted at any time. A file that cannot be used is made anew, and so is one whose vector has
    another size than what the model gives now.
    """

    def __init__(self, embedder: Embedder, folder: Path, *, queries: Collection[str] = ()) -> None:
        """Keep vectors below `folder`; `queries` are those that every process asks for and that are kept too."""
        self._embedder = embedder
        self._folder = folder / _file_name(embedder.name)
        self._queries = frozenset(queries)
        self._making = asyncio.Lock()
        """Held while texts are embedded, so that whoever needs the same ones reads them afterwards."""
        self._size = 0
        """Numbers of a vector as the model gives it now; 0 while it has given none."""

    @property
    def name(self) -> str:
        """Name of the model that makes them."""
        return self._embedder.name

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of things that are looked for; few of these come again, so the others are not kept."""
        if self._queries.issuperset(texts):
            return await self._kept(texts, _QUERY, self._embedder.embed_queries)
        return await self._made(texts, self._embedder.embed_queries)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found; see the port."""
        return await self._kept(texts, _PASSAGE, self._embedder.embed_passages)

    async def _kept(
        self, texts: Sequence[str], form: str, embed: Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]
    ) -> list[Vector]:
        async with self._making:
            known = await asyncio.to_thread(self._read, texts, form)
            await self._make([text for text in dict.fromkeys(texts) if text not in known], known, form, embed)
            if self._size:  # what was kept before may be of a model that was changed behind its name
                await self._make([text for text in known if len(known[text]) != self._size], known, form, embed)
        return [known[text] for text in texts]

    async def _make(
        self, texts: list[str], known: dict[str, Vector], form: str,
        embed: Callable[[Sequence[str]], Awaitable[Sequence[Vector]]],
    ) -> None:  # fmt: skip
        """Make vectors and keep them, also in `known`."""
        for start in range(0, len(texts), _AT_ONCE):
            part = texts[start : start + _AT_ONCE]
            made = dict(zip(part, await self._made(part, embed), strict=True))
            known.update(made)
            try:
                await asyncio.to_thread(self._write, made, form)
            except OSError as error:  # nothing is lost but time
                _log.warning("vectors could not be kept", extra={"folder": str(self._folder), "error": str(error)})

    async def _made(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]
    ) -> Sequence[Vector]:
        made = await embed(texts)
        self._size = len(made[-1]) if len(made) else self._size
        return made

    def _read(self, texts: Sequence[str], form: str) -> dict[str, Vector]:
        import numpy as np

        found: dict[str, Vector] = {}
        for text in dict.fromkeys(texts):
            try:
                vector = np.frombuffer(self._path(text, form).read_bytes(), dtype="<f4")
            except (OSError, ValueError):  # not there, or cut off
                continue
            if vector.size and abs(float(vector @ vector) - 1) < 0.01:
                found[text] = vector
        return found

    def _write(self, made: dict[str, Vector], form: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for text, vector in made.items():
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(vector.astype("<f4").tobytes())
                Path(name).replace(self._path(text, form))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def _path(self, text: str, form: str) -> Path:
        return self._folder / f"{hashlib.sha256((form + text).encode()).hexdigest()}.f32"


def forget_vectors(folder: Path, texts: Collection[str]) -> int:
    """Remove the kept vectors of these texts, of every model below a folder; return how many there were."""
    gone = 0
    for text in texts:
        for path in folder.glob(f"*/{hashlib.sha256((_PASSAGE + text).encode()).hexdigest()}.f32"):
            path.unlink(missing_ok=True)
            gone += 1
    return gone


def _file_name(name: str) -> str:
    """Return the name of a model as that of a folder: models are called `BAAI/bge-m3:q4`, or anything else."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
