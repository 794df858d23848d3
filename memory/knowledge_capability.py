"""`knowledge_open`: an employee looks at titles first, and then opens the few bodies that it needs.

At most two indexes and three bodies for an order, counted in the ledger; one more needs a reason, which is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property

from contracts import Json, TaskOrder
from memory.knowledge.finding import Found, KnowledgeFinder
from memory.knowledge.reading import LISTED, OPENED, Read, ReadingLog
from memory.knowledge.tree import KnowledgeTree, domain_of
from memory.memory_specs import OPEN
from runtime.canonical import clean_text
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger.port import Ledger
from runtime.search import Embedder
from runtime.settings import MemorySettings

_TITLES = 10
"""Titles of one answer."""
_TRIES = 8


class KnowledgeOpen:
    """Opens the knowledge as it stood when the execution began."""

    spec = OPEN

    def __init__(
        self, tree: KnowledgeTree, ledger: Ledger, settings: MemorySettings, embedder: Callable[[], Embedder | None]
    ) -> None:
        self._tree = tree
        self._log = ReadingLog(ledger)
        self._settings = settings
        self._embedder = embedder

    @cached_property
    def _finder(self) -> KnowledgeFinder:
        return KnowledgeFinder(self._tree, self._embedder())

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return titles for a question, or the texts of titles.

        Raises:
            InvalidArguments: a title was not given before, or the order has read as much as it may without a reason.
        """
        query, paths = clean_text(str(arguments.get("query") or "")).strip(), _paths(arguments.get("open"))
        if sum(map(bool, (query, paths, arguments.get("resume")))) != 1:
            raise InvalidArguments("Give one of `query` (for titles), `open` (for texts) and `resume`.")
        for _ in range(_TRIES):  # calls of one answer run side by side: each is decided over what the others read
            read = await self._log.of(context.order.order_id)
            if (before := read.calls.get(context.key)) is not None:
                return await self._told(context, read, before)
            kind, told = await self._decided(arguments, query, paths, context, read)
            told = {"key": context.key, "step": context.step, **told}
            if await self._log.note(context.order, kind, told, expected=read.version):
                return await self._told(context, await self._log.of(context.order.order_id), told)
        raise VersionConflict("The order reads too much at once; try again.")

    async def _decided(
        self, arguments: Mapping[str, Json], query: str, paths: Sequence[str], context: CallContext, read: Read
    ) -> tuple[str, dict[str, Json]]:
        if query:
            return LISTED, await self._listed(query, context.order, read)
        if paths:
            reason = clean_text(str(arguments.get("reason") or "")).strip()
            inherited = await self._log.inherited(context.order)
            return OPENED, self._opened(paths, reason, context.order, read, inherited)
        return OPENED, self._resumed(context.order)

    async def _listed(self, query: str, order: TaskOrder, read: Read) -> dict[str, Json]:
        found = await self._finder.find(query, _domains(order))
        indexes: list[str] = list(read.indexes)
        for each in found:  # strongest first: the indexes that are read are those in which it stands
            if each.domain not in indexes and len(indexes) < self._settings.read_indexes:
                indexes.append(each.domain)
        shown = [each for each in found if each.domain in indexes][:_TITLES]
        titles: dict[str, Json] = {each.entry.path: round(each.strength, 4) for each in shown}
        left_out: list[Json] = [*sorted({each.domain for each in found} - {*indexes})]
        return {"query": query, "indexes": [*_domains_of(shown)], "titles": titles,
                "indexes_left_out": left_out}  # fmt: skip

    def _opened(
        self, paths: Sequence[str], reason: str, order: TaskOrder, read: Read, inherited: Sequence[str]
    ) -> dict[str, Json]:
        known = {*read.listed, *read.opened, *inherited}
        if unknown := [path for path in paths if path not in known or not self._may_see(path, order)]:
            raise InvalidArguments(
                f"No title led to {', '.join(unknown)}: ask with `query` first, and open what it gives.",
                open=[*unknown],
            )
        new = [path for path in paths if path not in {*read.opened, *inherited}]
        own = [path for path in read.opened if path not in inherited]
        most = self._settings.read_bodies
        if len(own) + len(new) > most and not reason:
            raise InvalidArguments(
                f"This order has opened {len(own)} of {most} texts, and {len(new)} more are asked for. Say in `reason` "
                "why what it read is not enough, or open fewer, the strongest first.", opened=len(own), most=most,
            )  # fmt: skip
        strongest: list[Json] = [*sorted(paths, key=lambda path: (-read.listed.get(path, 0.0), path))]
        return {"opened": strongest, **({"reason": reason} if len(own) + len(new) > most else {})}

    def _resumed(self, order: TaskOrder) -> dict[str, Json]:
        logged = [entry for section in self._tree.of(_domains(order)) for entry in section.log]
        logged = [entry for entry in logged if entry.path in self._tree.bodies]
        logged.sort(key=lambda entry: self._tree.bodies[entry.path].updated, reverse=True)
        newest = logged[: self._settings.resume_titles]
        opened: list[Json] = [entry.path for entry in newest[: self._settings.resume_bodies]]
        return {"titles": {entry.path: 1.0 for entry in newest}, "opened": opened, "resumed": True}

    async def _told(self, context: CallContext, read: Read, told: Mapping[str, Json]) -> CallResult:
        listed, opened = told.get("titles") or {}, told.get("opened") or []
        assert isinstance(listed, Mapping) and isinstance(opened, list)
        inherited = await self._log.inherited(context.order)
        own = [path for path in read.opened if path not in inherited]
        left: dict[str, Json] = {
            "indexes": max(self._settings.read_indexes - len(read.indexes), 0),
            "texts": max(self._settings.read_bodies - len(own), 0),
            "indexes_left_out": told.get("indexes_left_out") or [],
        }
        titles = [self._title(str(path), context.order) | {"strength": score} for path, score in listed.items()]
        bodies = [self._body(str(path), context.now.date()) for path in opened]
        above = [self._title(path, context.order) for path in inherited if self._may_see(path, context.order)]
        return CallResult({"titles": titles, "bodies": bodies, "inherited": above, "left": left})

    def _title(self, path: str, order: TaskOrder) -> dict[str, Json]:
        for section in self._tree.of(_domains(order)):
            for entry in (*section.entries, *section.log):
                if entry.path == path:
                    return {"path": path, "title": entry.title, "when": entry.when}
        body = self._tree.bodies.get(path)
        return {"path": path, "title": body.title if body else path, "when": ""}

    def _body(self, path: str, today: date) -> dict[str, Json]:
        body = self._tree.bodies[path]
        conflicts: list[Json] = [*body.conflicts]
        return {
            "path": path, "title": body.title, "text": body.text, "confidence": body.confidence,
            "verified": body.verified.isoformat(), "stale": (today - body.verified).days > self._settings.verify_days,
            "conflicts": conflicts,
        }  # fmt: skip

    def _may_see(self, path: str, order: TaskOrder) -> bool:
        """Whether a body is there for an order: of its domains or of none, as the folder was pinned."""
        from_domains = {*_domains(order), ""}
        return path in self._tree.bodies and domain_of(path) in from_domains


def _domains(order: TaskOrder) -> list[str]:
    return ["", *order.knowledge_scope]


def _domains_of(found: Sequence[Found]) -> list[Json]:
    """Return the domains, each once, that of the strongest first."""
    return [*dict.fromkeys(each.domain for each in found)]


def _paths(value: Json) -> list[str]:
    return list(dict.fromkeys(str(path) for path in value)) if isinstance(value, list) else []
