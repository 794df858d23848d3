"""Commits that came too late because another wrote the same blackboard key or card first."""

from __future__ import annotations

from contracts import Json
from runtime.engine.journal import Journal, is_foreign
from runtime.errors import BusinessRefusal, VersionConflict


class VersionPassed(BusinessRefusal):
    """A step wrote against a version that it names itself, and the stream has gone past it."""

    code = VersionConflict.code


class Conflicts:
    """What was named before by one unit of work that is judged anew after each conflict.

    Another one may write the same blackboard key or card first. The work is then judged anew on what stands there now,
    however often that happens: each time somebody's commit went in, so they all come to an end. Only what was judged
    anew and still names the version it named before is refused: the plan holds it to that version.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._named: dict[str, Json] = {}

    async def refusal(self, conflict: VersionConflict) -> VersionPassed | None:
        """Return why the work is refused, None when it is to be judged anew; raise what concerns the order."""
        if not is_foreign(conflict, self._journal.stream) or await self._journal.moved_on():
            raise conflict
        stream, expected = str(conflict.facts["stream"]), conflict.facts.get("expected")
        if stream not in self._named or self._named[stream] != expected:
            self._named[stream] = expected
            return None
        return VersionPassed(conflict.message, **conflict.facts)
