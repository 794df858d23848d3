"""The rules of a folder as they stand now, read again only when one of their files changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agents.organisation.loader import read_rules
from governance.policies import Policy

_Seen = tuple[tuple[str, int, int, int], ...]


class RulesNow:
    """Reads them; every call of a capability asks, and looking at a few files takes microseconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = os.fspath(folder / "rules")
        self._seen: _Seen | None = None
        self._rules: Sequence[Policy] = ()

    def __call__(self) -> Sequence[Policy]:
        """Return the rules, the very same sequence as long as no file changed; raises as `read_rules`."""
        seen = self._look()
        if seen is None or seen != self._seen:
            self._seen = None
            self._rules = read_rules(self._folder)
            self._seen = seen
        return self._rules

    def _look(self) -> _Seen | None:
        """Return what tells whether a file changed, None where the folder has no rules or cannot be looked at."""
        try:
            with os.scandir(self._place) as files:
                looks = [(file.name, file.stat()) for file in files]
        except OSError:
            return None
        return tuple(sorted((name, look.st_mtime_ns, look.st_size, look.st_ino) for name, look in looks))
