"""Strategies and action chains in prompts: what always counts, what fits the task, and what was found before.

What a step was told is told to the steps after it and to the orders below, in their domains: it stands in the stream
`reading/ORDER`, one event for each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory.behaviour.behaviour import Behaviour, BehaviourKind
from memory.behaviour.finding import BehaviourFinder
from memory.knowledge.reading import ReadingLog
from runtime.context.blocks import CHAINS, STRATEGIES, About
from runtime.context.parts import Part
from runtime.ledger.port import Ledger
from runtime.search import Embedder
from runtime.settings import MemorySettings
from runtime.texts import in_language

FOLLOWED = "behaviour.followed"
_TRIES = 5
_BLOCKS = {BehaviourKind.STRATEGY: STRATEGIES, BehaviourKind.CHAIN: CHAINS}
_HEADS = {
    BehaviourKind.STRATEGY: "Preferred here; gives way to rules and to what was asked for",
    BehaviourKind.CHAIN: "A way that worked; gives way to everything above it",
}


class Behaviours:
    """Finds what a step is told, once for each step, and notes it for those who come after."""

    def __init__(
        self, behaviours: Sequence[Behaviour], ledger: Ledger, settings: MemorySettings,
        embedder: Callable[[], Embedder | None],
    ) -> None:  # fmt: skip
        self._behaviours = behaviours
        self._log = ReadingLog(ledger)
        self._settings = settings
        self._embedder = embedder
        self._finder: BehaviourFinder | None = None

    async def of(self, about: About) -> list[Behaviour]:
        """Return what a step is told, what always counts first; the same again however often it is asked."""
        if not self._behaviours:
            return []
        finder = self._finder = self._finder or BehaviourFinder(self._behaviours, self._embedder())
        order, key = about.order, f"{FOLLOWED} {about.step}"
        domains = order.knowledge_scope
        for _ in range(_TRIES):
            read = await self._log.of(order.order_id)
            if key not in read.calls:
                found = await self._found(finder, about)
                before = [*await self._log.inherited(order, "followed"), *read.followed]
                keys = list(dict.fromkeys([*before, *(f"{each.kind} {each.name}" for each in found)]))
                if not keys:
                    break
                told = {"key": key, "step": about.step, "followed": keys}
                if not await self._log.note(order, FOLLOWED, told, expected=read.version):
                    continue
            else:
                keys = list(read.calls[key].get("followed", ()))
            return [*finder.preloaded(domains), *finder.named(keys, domains)]
        return finder.preloaded(domains)

    async def _found(self, finder: BehaviourFinder, about: About) -> list[Behaviour]:
        domains, settings = about.order.knowledge_scope, self._settings
        task = f"{about.order.objective}\n{about.task}"
        strategies = await finder.find(task, BehaviourKind.STRATEGY, domains, top=settings.strategies_found)
        return [*strategies, *await finder.find(task, BehaviourKind.CHAIN, domains, top=settings.chains_found)]


class ToldBehaviour:
    """The block of one kind."""

    moves = True

    def __init__(self, kind: BehaviourKind, behaviours: Behaviours, settings: MemorySettings) -> None:
        self.name = _BLOCKS[kind]
        self._kind = kind
        self._behaviours = behaviours
        self._most = settings.behaviour_chars

    async def parts(self, about: About) -> Sequence[Part]:
        """Return a part for each, as far as there is room; nothing where nothing fits."""
        parts, left = [], self._most
        for each in await self._behaviours.of(about):
            if each.kind is not self._kind:
                continue
            text = _text(each, about.order.language)
            left -= len(text)
            if left < 0:
                break
            parts.append(Part(self.name, text, f"{each.kind} {each.name}"))
        return parts


def _text(behaviour: Behaviour, language: str) -> str:
    lines = [f"{_HEADS[behaviour.kind]} ({behaviour.name}): {in_language(behaviour.text, language)}"]
    lines += [f"{n}. {in_language(step, language)}" for n, step in enumerate(behaviour.steps, 1)]
    return "\n".join(lines)
