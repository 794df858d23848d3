"""What a conversation looks like after compactions: a small record beside it, applied whenever a prompt is made.

The record says up to which message a hand-over document stands for what was said. Messages are counted in the whole
conversation, which only grows, so what arrives while a compaction goes on follows the document, once, by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import ceil

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Sha256
from runtime.canonical import to_text
from runtime.context.blocks import TRANSCRIPT
from runtime.context.digest import digest
from runtime.context.handover import HandOver
from runtime.context.parts import Form, Part
from runtime.context.prompt import LeftOut, Prompt, Said
from runtime.context.result_store import HINT, HOW, ORIGINAL_LENGTH, REF_ID, STORED, SUMMARY
from runtime.context.transcript import gone
from runtime.settings.context import ContextSettings

ORIGIN = "the hand-over"
"""Origin of the part that holds the document."""
Count = Callable[[str], int]
"""How many tokens a text has."""


class Tier(IntEnum):
    """How full the window is, and so what is due."""

    NONE = 0
    LIGHT = 1
    """Long documents become references, weak memories go, old turns become a few words."""
    WARN = 2
    """The same, and people may be told."""
    COMPACT = 3
    """Everything but the newest turns becomes a hand-over document."""
    FULL = 4
    """The same, at once, whatever failed before; what cannot be made smaller ends here."""


class Compaction(BaseModel):
    """What was made of a conversation so far, and when it may be tried again. Kept in the ledger beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    until: int = Field(default=0, ge=0)
    """Messages before this one, but for pinned ones, are not shown; the document stands for them."""
    document: HandOver | None = None
    refs: tuple[Sha256, ...] = ()
    """Data that stood whole, and is shown by its reference."""
    dropped: tuple[str, ...] = ()
    """Origins of memories that are not shown."""
    session: int = Field(default=0, ge=0)
    """How often the conversation began anew with the document alone."""
    failures: int = Field(default=0, ge=0)
    """Tries in a row that failed, or gained too little."""
    failed_tier: Tier = Tier.NONE
    """Of the last of them."""
    rest_until: int = Field(default=0, ge=0)
    """No try of that tier is made before the conversation has so many messages."""

    def rests(self, messages: int, tier: Tier) -> bool:
        """Whether nothing is tried, because it failed not long ago."""
        return tier < Tier.FULL and tier <= self.failed_tier and messages < self.rest_until

    def failed(self, messages: int, tier: Tier, settings: ContextSettings) -> Compaction:
        """Return the same with a failure more; the rest after it doubles each time."""
        rest = min(settings.rest_messages * 2**self.failures, settings.rest_messages_most)
        update = {"failures": self.failures + 1, "failed_tier": tier, "rest_until": messages + rest}
        return self.model_copy(update=update)


def tier_of(tokens: int, window: int, settings: ContextSettings) -> Tier:
    """Return what is due when a prompt takes so many tokens of the window."""
    table = (
        (settings.full_share, Tier.FULL),
        (settings.compact_share, Tier.COMPACT),
        (settings.warn_share, Tier.WARN),
        (settings.light_share, Tier.LIGHT),
    )
    return next((tier for share, tier in table if tokens >= share * window), Tier.NONE)


def applied(prompt: Prompt, state: Compaction, settings: ContextSettings) -> Prompt:
    """Return the prompt as it is shown after the compactions so far.

    Args:
        prompt: the whole conversation, with all messages that ever were in it.

    Raises:
        RepresentationTwice: it would show one datum in two forms.
    """
    went = gone(prompt.said, state.until)
    left_out = list(prompt.left_out)
    said = [_shortened(each, at, state, settings, left_out) for at, each in enumerate(prompt.said)]
    if went and state.document is not None:
        size = sum(len(part.text) for at in went for part in prompt.said[at].all_parts)
        text = state.document.text()
        left_out.append(
            LeftOut(f"messages {went[0] + 1} to {went[-1] + 1}", f"{ORIGIN} stands for them", size - len(text))
        )
        told = Said("user", (Part(TRANSCRIPT, text, ORIGIN),))
        kept = set(range(len(said))).difference(went)
        said = [told if at == went[0] else said[at] for at in sorted(kept | {went[0]})]
    return Prompt(tuple(said), tuple(left_out))


def reference_text(text: str, ref: str, settings: ContextSettings) -> str:
    """Return what stands for a datum that stood whole."""
    told = {STORED: True, REF_ID: ref, ORIGINAL_LENGTH: len(text), HINT: HOW}
    return to_text({**told, SUMMARY: digest(text, limit=settings.digest_chars)})


def tokens_of(prompt: Prompt, count: Count, settings: ContextSettings, *, beside: int = 0) -> int:
    """Return the tokens that a prompt takes, with `beside` for what is sent with it (the declarations of tools)."""
    return beside + sum(tokens_in(each, count, settings) for each in prompt.said)


def tokens_in(said: Said, count: Count, settings: ContextSettings) -> int:
    """Return the tokens of one message."""
    named = sum(count(call.name) for call in said.calls)
    return settings.message_tokens + named + sum(count(part.text) for part in said.all_parts)


def tokens_by_block(said: Sequence[Said], count: Count, *, beside: int = 0) -> Mapping[str, int]:
    """Return the tokens of each block of these messages; those of tools under `tools`."""
    found: dict[str, int] = {"tools": beside} if beside else {}
    for part in (part for each in said for part in each.all_parts):
        found[part.block] = found.get(part.block, 0) + count(part.text)
    return found


def _shortened(each: Said, at: int, state: Compaction, settings: ContextSettings, left_out: list[LeftOut]) -> Said:
    parts = tuple(_parts(each, state, settings, left_out))
    calls = tuple(
        replace(call, arguments=_shown(call.arguments, state, settings, left_out)) if call.arguments.ref else call
        for call in each.calls
    )
    return replace(each, parts=parts, calls=calls) if parts != each.parts or calls != each.calls else each


def _parts(each: Said, state: Compaction, settings: ContextSettings, left_out: list[LeftOut]) -> Iterator[Part]:
    for part in each.parts:
        if not part.pinned and part.origin in state.dropped:
            left_out.append(LeftOut(part.origin, "it has little to do with the task", len(part.text)))
            continue
        yield _shown(part, state, settings, left_out)


def _shown(part: Part, state: Compaction, settings: ContextSettings, left_out: list[LeftOut]) -> Part:
    if part.pinned or part.form is not Form.FULL or part.ref is None or part.ref not in state.refs:
        return part
    text = reference_text(part.text, part.ref, settings)
    left_out.append(LeftOut(part.origin, "long: its reference stands for it", len(part.text) - len(text)))
    return replace(part, text=text, form=Form.SUMMARY)


@dataclass(frozen=True, slots=True)
class Window:
    """How much room there is, and how it is measured."""

    tokens: int
    count: Count
    settings: ContextSettings
    beside: int = 0

    def of(self, prompt: Prompt) -> int:
        """Return the tokens of a prompt, with what is sent beside it."""
        return tokens_of(prompt, self.count, self.settings, beside=self.beside)

    def share(self, share: float) -> int:
        """Return a share of the window in tokens."""
        return ceil(share * self.tokens)
