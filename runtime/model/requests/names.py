"""Names of tools as endpoints take them, and the way back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import sha256

LONGEST = 64
"""Characters that endpoints take in the name of a tool: letters and digits of ASCII, `_` and `-`."""
_FITS = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST}}}")
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_STEM = "tool"
"""Stands for a name of which no character can stay."""


class Names:
    """The tools of one request under names that its endpoint takes.

    A name that fits stays; dots and the like become `_` where that is the name of nothing else; all others get the
    beginning of their hash. So the same set of names has the same aliases, in whatever order it comes.
    """

    __slots__ = ("_aliases", "_real", "_reserved")

    def __init__(self, names: Iterable[str], *, reserved: Collection[str] = ()) -> None:
        """Take over all names of a request; no alias is one of `reserved`."""
        wanted = dict.fromkeys(names)
        self._reserved = frozenset(reserved)
        self._aliases = {name: name for name in wanted if _fits(name) and name not in self._reserved}
        self._real = dict(self._aliases)
        others = [name for name in wanted if name not in self._aliases]
        short = {name: _shortened(name) for name in others}
        told = Counter(short.values())
        for name in sorted(others):  # in a fixed order, for the case that hashes collide
            alias = short[name]
            if not alias or told[alias] > 1 or alias in self._real or alias in self._reserved:
                alias = _hashed(name, self._real)
            self._aliases[name], self._real[alias] = alias, name

    def alias(self, name: str) -> str:
        """Return what the endpoint is told; a tool of earlier in the conversation gets a name that is no other's."""
        known = self._aliases.get(name)
        if known is not None:
            return known
        if _fits(name) and name not in self._reserved:
            return name  # some other's alias too, if that is what the model wrote
        return _hashed(name, self._real)

    def real(self, alias: str) -> str:
        """Return our name for what a model wrote: an alias, or the name that people use; else it is as it was."""
        return self._real.get(alias, alias)


@lru_cache(64)
def names_of(names: tuple[str, ...], reserved: frozenset[str]) -> Names:
    """Return the names of a request, worked out once for the same ones in the same order."""
    return Names(names, reserved=reserved)


def _fits(name: str) -> bool:
    return _FITS.fullmatch(name) is not None


def _shortened(name: str) -> str:
    """Return the name with `_` for what is not allowed, or nothing where that would tell too little of it."""
    return _FOREIGN.sub("_", name) if name.isascii() and 0 < len(name) <= LONGEST else ""


def _hashed(name: str, taken: Collection[str]) -> str:
    stem = _FOREIGN.sub("_", name).strip("_") or _STEM
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    alias, digits = "", 8
    while not alias or alias in taken:
        end = f"_{digest[:digits]}"
        alias, digits = f"{stem[: LONGEST - len(end)]}{end}", digits + 8
    return alias
