"""Unpacking an answer piece by piece, so that a few bytes never become all the memory there is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

PIECE = 16 * 1024
"""Bytes that are unpacked at once at most."""
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_FORMS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}


class Unpacking:
    """One body that is packed with gzip or deflate, as its parts come."""

    def __init__(self, form: int) -> None:
        self._form = form
        self._left = zlib.decompressobj(form)
        self._begun = False

    @property
    def whole(self) -> bool:
        """Whether it came to its end."""
        return self._left.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what the next part of the body becomes; raise ValueError for what is not packed as it says."""
        while data:
            if self._left.eof:  # another one behind the first, which gzip allows
                self._left = zlib.decompressobj(self._form)
            piece = self._unpack(data)
            if piece:
                yield piece
            data = self._left.unused_data if self._left.eof else self._left.unconsumed_tail

    def _unpack(self, data: bytes) -> bytes:
        begun, self._begun = self._begun, True
        try:
            return self._left.decompress(data, PIECE)
        except zlib.error as error:
            if self._form != _ZLIB or begun:
                raise ValueError(f"what it packed cannot be unpacked: {error}") from None
        self._form, self._left = _RAW, zlib.decompressobj(_RAW)  # many say deflate and leave out its frame
        return self._unpack(data)


def unpacking_of(packings: Sequence[str]) -> Unpacking | None:
    """Return what unpacks a body of these content encodings, None for one that is not packed.

    Raises:
        ValueError: it is packed in another way, or more than once.
    """
    named = [each for each in (each.strip().lower() for each in packings) if each and each != "identity"]
    if not named:
        return None
    if len(named) > 1 or named[0] not in _FORMS:
        raise ValueError(
            f"it packed its answer ({', '.join(named)}), which nobody asked it to and nobody can unpack here"
        )
    return Unpacking(_FORMS[named[0]])
