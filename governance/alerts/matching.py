"""Which alerts are meant: labels and what they must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from runtime.errors import InvalidArguments


@dataclass(frozen=True, slots=True)
class Matcher:
    """Labels with what each must be: one of these, `*` for any part. Empty matches every alert."""

    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether every label that is named is there and is one of these."""
        for name, patterns in self.wanted.items():
            value = labels.get(name)
            if value is None or not any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns):
                return False
        return True

    def to_json(self) -> dict[str, list[str]]:
        """Return it as it is stored."""
        return {name: list(patterns) for name, patterns in self.wanted.items()}

    def text(self) -> str:
        """Return it as it is typed: `sensor=cancellations origin=EWR,JFK`."""
        return " ".join(f"{name}={','.join(patterns)}" for name, patterns in self.wanted.items()) or "*"

    @classmethod
    def read(cls, data: Mapping[str, object]) -> Matcher:
        """Return what was stored."""
        return cls({name: tuple(map(str, patterns)) for name, patterns in data.items()})  # type: ignore[call-overload]


def typed_matcher(words: list[str] | tuple[str, ...]) -> Matcher:
    """Return the matcher that was typed as `LABEL=VALUE[,VALUE]`, one word a label.

    Raises:
        InvalidArguments: a word is not of that form, or names a label twice.
    """
    wanted: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        patterns = tuple(value.strip() for value in values.split(",") if value.strip())
        if not equals or not name.strip() or not patterns:
            raise InvalidArguments(f"{word!r} is no match; write LABEL=VALUE, for example sensor=cancellations.")
        if name.strip() in wanted:
            raise InvalidArguments(f"{name.strip()} is named twice; write its values as {name.strip()}=A,B.")
        wanted[name.strip()] = patterns
    return Matcher(wanted)
