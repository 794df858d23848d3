"""What is searched, what is found, and what an embedder promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contracts import Json
from runtime.errors import SiliconError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found."""

    id: str
    fields: Mapping[str, str]
    """Name of a field → its text; the index says how much each counts."""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    """What a search may ask for beside the text: owner, time, kind, …"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One document that was found, and why."""

    document: Document
    score: float
    """0 to 1. With an embedder it compares hits of one search; across searches it says little."""
    keyword: float
    """BM25 of the query's words; 0 where none stands in the document."""
    similarity: float | None
    """Cosine of the two vectors; None where nothing was embedded."""
    terms: Mapping[str, float]
    """Word of the query → its part of `keyword`, largest first."""


class EmbedderUnavailable(SiliconError):
    """There are no vectors to be had now; whoever searches goes on by words and says so."""

    code = "EMBEDDER_UNAVAILABLE"


class Embedder(Protocol):
    """Turns texts into vectors of length 1 whose cosine says how near their meanings are.

    Empty texts never come here, and texts are clean (no NUL, no lone surrogate). All vectors of one embedder are
    finite and of one size.
    """

    @property
    def name(self) -> str:
        """Name of the model in the form in which it runs; vectors of different names are not compared."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of things that are looked for, in their order; raise EmbedderUnavailable."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found, in their order; raise EmbedderUnavailable."""
        ...
