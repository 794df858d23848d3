"""Making the hand-over document from facts, by code: the same facts give the same document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from math import ceil

from runtime.context.bounds import shortened
from runtime.context.handover import Abandoned, Deed, Done, Facts, HandOver, Phase, Replaced, body_of
from runtime.context.prompt import Prompt, Said
from runtime.context.transcript import exchanges, gone
from runtime.context.values import Source, entities_of
from runtime.settings.context import ContextSettings


class Detail(IntEnum):
    """How much is told of what can be read again by a reference; what cannot is told whole in each."""

    BARE = 0
    """Its values and its reference."""
    SHORT = 1
    """The first words of what came out."""
    PLAIN = 2
    """Its beginning."""


def facts_for(prompt: Prompt, facts: Facts, until: int) -> Facts:
    """Return the facts that a document for the messages before `until` is about."""
    said = prompt.said
    went = set(gone(said, until))
    shown = {call.id for at, each in enumerate(said) if at not in went for call in each.calls}
    deeds = tuple(deed for deed in facts.deeds if deed.call not in shown)
    phases = {deed.call: deed.phase for deed in facts.deeds if deed.call}
    replaced: list[Replaced] = []
    phase = next((phases[call.id] for each in said for call in each.calls if call.id in phases), facts.phase)
    for each in exchanges(said):
        here = [call.id for message in said[each.start : each.stop] for call in message.calls]
        phase = next((phases[call] for call in here if call in phases), phase)
        replaced += [
            Replaced(phase, said[at], _ref_of(said[at], facts)) for at in range(each.start, each.stop) if at in went
        ]
    return replace(facts, deeds=deeds, replaced=tuple(replaced))


def _ref_of(said: Said, facts: Facts) -> str | None:
    originals = facts.originals or {}
    return next((originals[part.origin] for part in said.all_parts if part.origin in originals), None)


def handed_over(
    facts: Facts,
    settings: ContextSettings,
    *,
    words: Mapping[str, str] | None = None,
    detail: Detail = Detail.PLAIN,
    entities: Mapping[str, tuple[str, ...]] | None = None,
) -> HandOver:
    """Return the document that stands for `facts.replaced`.

    Args:
        words: phase → what a model says of it.
        entities: what `entities_in` gives for the same facts, where it is known already.
    """
    entities = entities_in(facts, settings) if entities is None else entities
    phases = [_phase(name, facts, settings, (words or {}).get(name, ""), detail) for name in phases_of(facts)]
    document = HandOver(
        request=facts.request,
        phases=tuple(phases),
        abandoned=(*facts.abandoned, *(_abandoned(deed, settings) for deed in facts.deeds if deed.failed)),
        open=facts.open,
        stored=facts.stored,
        entities=entities,
    )
    lost = needed_values(facts, Source(document.values()))
    return document.model_copy(update={"entities": {**entities, "needed": lost}}) if lost else document


def entities_in(facts: Facts, settings: ContextSettings) -> Mapping[str, tuple[str, ...]]:
    """Return what the messages named, by kind."""
    return entities_of("\n".join(each.text for each in facts.replaced), most=settings.entities_most)


def phases_of(facts: Facts) -> Sequence[str]:
    """Return the names of the phases, in the order in which they began."""
    return tuple(dict.fromkeys([*(each.phase for each in facts.deeds), *(each.phase for each in facts.replaced)]))


def needed_values(facts: Facts, document: Source) -> tuple[str, ...]:
    """Return the values that something later needs, stood in what was replaced, and stand no more in the document."""
    if not facts.needed:
        return ()
    source = Source("\n".join([*(each.text for each in facts.replaced), *(deed.gave for deed in facts.deeds)]))
    return tuple(value for value in facts.needed if source.has(value) and not document.has(value))


def unreferenced(phase: str, facts: Facts) -> Sequence[str]:
    """Return the texts that a phase replaces and that nobody can read again."""
    refs = {deed.call: deed.ref for deed in facts.deeds if deed.call and deed.ref}
    return [text for each in facts.replaced if each.phase == phase for text in _unreferenced(each, refs)]


def _unreferenced(each: Replaced, refs: Mapping[str, str]) -> Iterator[str]:
    if each.ref is not None or each.said.answers in refs:
        return
    for part in each.said.all_parts:
        if part.ref is None and part.text:
            yield part.text


def _phase(name: str, facts: Facts, settings: ContextSettings, words: str, detail: Detail) -> Phase:
    done = tuple(_done(deed, settings, detail) for deed in facts.deeds if deed.phase == name and not deed.failed)
    mine = [each for each in facts.replaced if each.phase == name]
    told = [shortened(each.text, _most(each.text, settings)) for each in mine if each.said.role == "user"]
    originals = dict.fromkeys(each.ref for each in mine if each.ref is not None)
    phase = Phase(name=name, words=words, done=done, told=tuple(told), originals=tuple(originals))
    texts = unreferenced(name, facts)
    lacking = ceil(settings.phase_share * sum(map(len, texts))) - len(body_of(phase))
    if lacking <= 0:
        return phase
    said = {part.text for each in mine if each.said.role == "user" for part in each.said.parts}
    return phase.model_copy(update={"excerpts": _excerpts([text for text in texts if text not in said], lacking)})


def _most(text: str, settings: ContextSettings) -> int:
    return max(settings.told_chars, ceil(settings.phase_share * len(text)))


def _excerpts(texts: Sequence[str], lacking: int) -> tuple[str, ...]:
    """Return the beginning of each text, as much of each as together makes up for what lacks."""
    share = lacking / max(1, sum(map(len, texts)))
    return tuple(shortened(text, ceil(share * len(text))) for text in texts)


def _done(deed: Deed, settings: ContextSettings, detail: Detail) -> Done:
    most = {Detail.BARE: 0, Detail.SHORT: settings.gave_chars // 4, Detail.PLAIN: settings.gave_chars}[detail]
    whole = deed.ref is None
    return Done(
        evidence=deed.evidence,
        call=deed.call,
        what=shortened(deed.what, settings.gave_chars),
        gave=deed.gave if whole else shortened(deed.gave, most),
        values=deed.values,
        ref=deed.ref,
        effect=deed.effect,
    )


def _abandoned(deed: Deed, settings: ContextSettings) -> Abandoned:
    return Abandoned(way=shortened(deed.what, settings.gave_chars), why=deed.failed, evidence=deed.evidence)
