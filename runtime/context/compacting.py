"""Compaction: what is due when a window fills, tried by code first, judged by code, and worth it or left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil

from runtime.context.blocks import INSIGHTS, MEMORY
from runtime.context.compaction import Compaction, Count, Tier, Window, applied, tier_of, tokens_by_block
from runtime.context.compress import ROLE, Ask, shortened, together
from runtime.context.errors import ContextIncompressible
from runtime.context.handing_over import Detail, entities_in, facts_for, handed_over
from runtime.context.handover import Facts, HandOver, Replaced
from runtime.context.handover_faults import faults_of
from runtime.context.parts import Form, Part
from runtime.context.prompt import Prompt
from runtime.context.transcript import Cut, cut, exchanges
from runtime.errors import LedgerError, SiliconError
from runtime.settings.context import ContextSettings

_WISHES = "Say what was wished, what was decided and why, and what is still open, in the order in which it came up."


class Why(StrEnum):
    """Why nothing was changed."""

    NOT_DUE = "not due"
    RESTING = "a try failed not long ago"
    USELESS = "it would gain too little"
    FAULTY = "the hand-over document has faults"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A conversation that was made smaller."""

    prompt: Prompt
    """As it is shown now."""
    state: Compaction
    """To be recorded; from now on `applied` makes every prompt with it."""
    tier: Tier
    """What was due."""
    before: int
    """Tokens."""
    after: int
    wordless: tuple[str, ...] = ()
    """Why a phase has no words of a model, where one was asked for them."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A conversation that is shown as before."""

    state: Compaction
    """As before, but for when it is tried again."""
    tier: Tier
    tokens: int
    why: Why
    faults: tuple[str, ...] = ()


async def compact(
    prompt: Prompt,
    facts: Facts,
    window: int,
    count: Count,
    *,
    ask: Ask | None,
    state: Compaction,
    settings: ContextSettings,
    beside: int = 0,
    keep: int | None = None,
    role: str = ROLE,
) -> Compacted | Unchanged:
    """Do what is due for a conversation that fills its window.

    Args:
        prompt: the whole conversation, without any compaction.
        facts: what the ledger has of it, all deeds since it began.
        window: tokens that the model holds.
        ask: the model that words the phases; None where there is none.
        state: what was made of the conversation so far.
        beside: tokens of what is sent with it, the declarations of its tools.
        keep: messages that stay at most (`messages_kept`); None sets no limit.

    Raises:
        ContextIncompressible: what may not be compressed alone is too large, or the window is full and nothing helps.
        LedgerError: `ask` could not record what it did.
    """
    room = Window(window, count, settings, beside)
    before = room.of(applied(prompt, state, settings))
    tier = tier_of(before, window, settings)
    if tier is Tier.NONE:
        return Unchanged(state, tier, before, Why.NOT_DUE)
    work = _Work(prompt, facts, room, state, ask, role, keep, lightened(prompt, facts, state, settings))
    work.require_room(before)
    if state.rests(len(prompt.said), tier):
        return Unchanged(state, tier, before, Why.RESTING)
    tried, wordless = await work.tried(tier, before)
    return _judged(work, Compacted(applied(prompt, tried, settings), tried, tier, before, 0, wordless))


def trimmed(prompt: Prompt, facts: Facts, state: Compaction, *, keep: int, settings: ContextSettings) -> Compaction:
    """Return the state in which at most `keep` messages are shown, and a document by code for the others.

    The same state comes back where too few would go, or where the document would have a fault.
    """
    found = cut(prompt.said, keep=keep, least=settings.messages_least, go_least=settings.messages_go, since=state.until)
    if not found.go:
        return state
    mine = facts_for(prompt, facts, found.until)
    document = handed_over(mine, settings, words=_words_of(state.document))
    if faults_of(document, mine, settings):
        return state
    return state.model_copy(update={"until": found.until, "document": document})


def lightened(prompt: Prompt, facts: Facts, state: Compaction, settings: ContextSettings) -> Compaction:
    """Return the state in which long documents are references and weak memories are left out; code alone does both.

    What the newest messages show stays whole, and so does what nobody could read again.
    """
    older = prompt.said[: -settings.messages_least]
    refs = [part.ref for each in older for part in each.all_parts if part.ref and _is_document(part, facts, settings)]
    relevance = facts.relevance or {}
    weak = [
        part.origin
        for part in prompt.parts
        if part.block in (MEMORY, INSIGHTS) and relevance.get(part.origin, 1.0) < settings.relevance_least
    ]
    return state.model_copy(
        update={
            "refs": tuple(dict.fromkeys([*state.refs, *refs])),
            "dropped": tuple(dict.fromkeys([*state.dropped, *weak])),
        }
    )


def _is_document(part: Part, facts: Facts, settings: ContextSettings) -> bool:
    long = len(part.text) > settings.document_chars
    return long and part.form is Form.FULL and not part.pinned and part.ref in facts.readable


def _words_of(document: HandOver | None) -> Mapping[str, str]:
    return {} if document is None else {phase.name: phase.words for phase in document.phases if phase.words}


def _judged(work: _Work, found: Compacted) -> Compacted | Unchanged:
    """Return what was found, or nothing changed where it has faults or is not worth it."""
    settings, messages = work.room.settings, len(work.prompt.said)
    after = work.room.of(found.prompt)
    faults: tuple[str, ...] = ()
    if found.state.document is not None:
        faults = faults_of(found.state.document, work.facts_at(found.state.until)[0], settings)
    if not faults and found.before - after >= settings.gain_share * found.before:
        rested = {"failures": 0, "failed_tier": Tier.NONE, "rest_until": 0}
        return replace(found, after=after, state=found.state.model_copy(update=rested))
    why = Why.FAULTY if faults else Why.USELESS
    if found.tier is Tier.FULL:
        raise work.incompressible(found.before, found.prompt, f"{why}: {' '.join(faults)}" if faults else why)
    return Unchanged(work.state.failed(messages, found.tier, settings), found.tier, found.before, why, faults)


@dataclass(frozen=True, slots=True)
class _Work:
    """One try."""

    prompt: Prompt
    facts: Facts
    room: Window
    state: Compaction
    ask: Ask | None
    role: str
    keep: int | None
    light: Compaction
    known: dict[int, tuple[Facts, Mapping[str, tuple[str, ...]]]] = field(default_factory=dict)
    """Place of a cut → the facts of a document there, and what its messages name."""

    def facts_at(self, until: int) -> tuple[Facts, Mapping[str, tuple[str, ...]]]:
        if until not in self.known:
            mine = facts_for(self.prompt, self.facts, until)
            self.known[until] = mine, entities_in(mine, self.room.settings)
        return self.known[until]

    def require_room(self, tokens: int) -> None:
        """Refuse a conversation of which even the part that never goes is too large."""
        shown = applied(self.prompt, self.light.model_copy(update={"document": None}), self.room.settings)
        pinned = [at for each in exchanges(shown.said) if each.pinned for at in range(each.start, each.stop)]
        floor = Prompt(tuple(shown.said[at] for at in pinned))
        if self.room.of(floor) >= self.room.share(self.room.settings.compact_share):
            raise self.incompressible(tokens, floor, "it alone fills the window")

    def incompressible(self, tokens: int, floor: Prompt, why: str) -> ContextIncompressible:
        blocks = tokens_by_block(floor.said, self.room.count, beside=self.room.beside)
        return ContextIncompressible(tokens, self.room.tokens, self.room.of(floor), blocks, why)

    async def tried(self, tier: Tier, before: int) -> tuple[Compaction, tuple[str, ...]]:
        """Return the state after this try, and why words of a model are missing in it."""
        if tier < Tier.COMPACT:
            tokens = self._tokens(self.light)
            enough = tokens < self.room.share(self.room.settings.light_share)
            if enough and before - tokens >= self.room.settings.gain_share * before:
                return self.light, ()
            return await self._worded(self._cut(self._recent()), Detail.PLAIN, tier, before)
        aim = self.room.share(self.room.settings.compact_to)
        tight = self._cut(self.room.settings.messages_least)
        detail = next((each for each in reversed(Detail) if self._trial(tight.until, each, tier) <= aim), Detail.BARE)
        found, wordless = await self._worded(self._widened(tight, detail, tier, aim), detail, tier, before)
        if self._tokens(found) < self.room.share(self.room.settings.light_share):
            return found, wordless
        anew = cut(self.prompt.said, keep=0, least=0, go_least=1, since=self.state.until)
        begun, unworded = await self._worded(anew, Detail.BARE, tier, before)
        if self._tokens(begun) >= self._tokens(found):
            return found, wordless
        return begun.model_copy(update={"session": self.state.session + 1}), unworded

    def _tokens(self, state: Compaction) -> int:
        return self.room.of(applied(self.prompt, state, self.room.settings))

    def _cut(self, keep: int) -> Cut:
        settings = self.room.settings
        most = keep if self.keep is None else min(keep, self.keep)
        return cut(
            self.prompt.said,
            keep=most,
            least=settings.messages_least,
            go_least=settings.messages_go,
            since=self.state.until,
        )

    def _recent(self) -> int:
        """Return how many messages the newest turns have that the light tiers leave as they are."""
        said, since = self.prompt.said, self.state.until
        movable = [each for each in exchanges(said) if not each.pinned and each.start >= since]
        turns = [at for at, each in enumerate(movable) if said[each.start].role == "assistant"]
        first = turns[-self.room.settings.light_turns :][0] if turns else 0
        return sum(len(each) for each in movable[first:])

    def _widened(self, tight: Cut, detail: Detail, tier: Tier, aim: int) -> Cut:
        """Return the cut that lets the most messages stay for which there is room."""
        spare = aim - self._trial(tight.until, detail, tier)
        stay = len(tight.stay)
        for each in reversed([each for each in exchanges(self.prompt.said) if not each.pinned]):
            if each.start >= tight.until:
                continue
            spare -= self.room.of(Prompt(self.prompt.said[each.start : each.stop])) - self.room.beside
            if each.start < self.state.until or spare < 0:
                break
            stay += len(each)
        wide = self._cut(stay)
        return wide if wide.go else tight

    def _trial(self, until: int, detail: Detail, tier: Tier) -> int:
        """Return the tokens that the prompt would have at most, words of a model included."""
        words = dict(_words_of(self.state.document))
        if self.ask is not None:
            words |= {name: "word " * (most // 5) for name, (_, most) in self._to_word(until, tier).items()}
        return self._tokens(self._with(until, detail, words))

    def _with(self, until: int, detail: Detail, words: Mapping[str, str]) -> Compaction:
        mine, entities = self.facts_at(until)
        if not mine.replaced:
            return self.light
        document = handed_over(mine, self.room.settings, words=words, detail=detail, entities=entities)
        return self.light.model_copy(update={"until": until, "document": document})

    async def _worded(self, found: Cut, detail: Detail, tier: Tier, before: int) -> tuple[Compaction, tuple[str, ...]]:
        """Return the state at a cut, with words of a model where there is something to gain."""
        words = dict(_words_of(self.state.document))
        plain = self._with(found.until, detail, words)
        gain = before - self._tokens(plain)
        if self.ask is None or gain < self.room.settings.gain_share * before:
            return plain, ()
        told = self._to_word(found.until, tier)
        answers = await together([self._say(text, most) for text, most in told.values()])
        words |= {name: said for name, (said, _) in zip(told, answers, strict=True) if said}
        return self._with(found.until, detail, words), tuple(why for _, why in answers if why)

    def _to_word(self, until: int, tier: Tier) -> Mapping[str, tuple[str, int]]:
        """Return, for each phase of which messages go now, what its words are about and how long they may be."""
        settings = self.room.settings
        went, old = self.facts_at(until)[0].replaced, len(self.facts_at(self.state.until)[0].replaced)
        words, found = _words_of(self.state.document), {}
        for name in dict.fromkeys(each.phase for each in went[old:]):
            mine = [each for each in went[old:] if each.phase == name]
            turns = sum(each.said.role == "assistant" for each in mine)
            light = settings.turn_chars * max(1, ceil(turns / settings.light_turns))
            most = settings.phase_chars if tier >= Tier.COMPACT else light
            text = "\n\n".join([*([words[name]] if name in words else ()), *map(_spoken, mine)])
            if len(text) > most:
                found[name] = (text, most)
        return found

    async def _say(self, text: str, most: int) -> tuple[str, str]:
        """Return the words of a model, or why there are none."""
        assert self.ask is not None
        try:
            settings = self.room.settings
            return await shortened(text, self.ask, most=most, settings=settings, role=self.role, task=_WISHES), ""
        except LedgerError:
            raise
        except SiliconError as error:
            return "", error.message


def _spoken(each: Replaced) -> str:
    calls: Sequence[str] = [f"calls {call.name} {call.arguments.text}" for call in each.said.calls]
    said = "\n".join(part.text for part in each.said.parts if part.text)
    return "\n".join([f"[{each.said.role}]", *([said] if said else ()), *calls])
