"""The checker of a hand-over document: code holds it against facts of the ledger, and what has a fault is not used."""

from __future__ import annotations

from collections.abc import Iterator

from runtime.context.handing_over import needed_values, phases_of, unreferenced
from runtime.context.handover import Done, Facts, HandOver, Phase, body_of
from runtime.context.values import Source
from runtime.settings.context import ContextSettings


def faults_of(document: HandOver, facts: Facts, settings: ContextSettings) -> tuple[str, ...]:
    """Return what is wrong with a document, one sentence each; nothing where it may be used.

    Args:
        facts: with the messages that it stands for (`replaced`), and the deeds that those told of.
    """
    return (
        *_of_request(document, facts),
        *_of_open(document, facts),
        *_of_deeds(document, facts),
        *_of_stored(document, facts),
        *_of_values(document, facts),
        *_of_sizes(document, facts, settings),
        *_of_pinned(facts),
    )


def _of_request(document: HandOver, facts: Facts) -> Iterator[str]:
    if document.request != facts.request:
        yield "The request is not told word by word."


def _of_open(document: HandOver, facts: Facts) -> Iterator[str]:
    yield from (
        f"The {each.kind} {each.id} is open, and is not told so." for each in facts.open if each not in document.open
    )
    known = {each.id for each in facts.open}
    yield from (
        f"The {each.kind} {each.id} is told as open, and is not." for each in document.open if each.id not in known
    )
    ways = {(each.way, each.why) for each in document.abandoned}
    yield from (
        f"The abandoned way {each.way!r} is missing." for each in facts.abandoned if (each.way, each.why) not in ways
    )
    evidence = {each.evidence for each in document.abandoned}
    yield from (
        f"{deed.evidence} failed, and is not told as abandoned."
        for deed in facts.deeds
        if deed.failed and deed.evidence not in evidence
    )


def _of_deeds(document: HandOver, facts: Facts) -> Iterator[str]:
    told = [done for phase in document.phases for done in phase.done]
    deeds = {deed.evidence: deed for deed in facts.deeds}
    for done in told:
        deed = deeds.get(done.evidence)
        if deed is None:
            yield f"{done.what!r} is told as done, and no evidence {done.evidence!r} exists."
        elif deed.failed:
            yield f"{done.what!r} is told as done, and it failed: {deed.failed}"
        elif (done.effect, done.ref, done.call) != (deed.effect, deed.ref, deed.call):
            yield f"{done.evidence} is not told as it was: effect, reference and call have to be those of the ledger."
    named = {done.evidence for done in told}
    yield from (
        f"{each} was done, and is not told." for each, deed in deeds.items() if not deed.failed and each not in named
    )


def _of_stored(document: HandOver, facts: Facts) -> Iterator[str]:
    named = {each.ref for each in document.stored}
    yield from (f"The stored {each.about} ({each.ref}) is missing." for each in facts.stored if each.ref not in named)
    told = {ref for phase in document.phases for ref in _refs(phase)} | named
    yield from (f"Nothing can be read under the reference {ref}." for ref in sorted(told - facts.readable))


def _refs(phase: Phase) -> Iterator[str]:
    yield from phase.originals
    yield from (done.ref for done in phase.done if done.ref is not None)


def _of_values(document: HandOver, facts: Facts) -> Iterator[str]:
    told = {done.evidence: done for phase in document.phases for done in phase.done}
    for deed in facts.deeds:
        done = told.get(deed.evidence)
        for value in deed.values if done is not None else ():
            if not _keeps(done, value):
                yield f"The value {value!r} of {deed.evidence} is lost."
    yield from (
        f"The value {value!r} is needed later, and is lost."
        for value in needed_values(facts, Source(document.values()))
    )
    source = Source("\n".join([*(each.text for each in facts.replaced), *_told(facts)]))
    for phase in document.phases:
        for value in source.lacks(phase.words):
            yield f"The words of phase {phase.name} hold {value!r}, which stands nowhere in what they are about."


def _keeps(done: Done | None, value: str) -> bool:
    return done is not None and (value in done.values or Source(done.gave).has(value))


def _told(facts: Facts) -> Iterator[str]:
    for deed in facts.deeds:
        yield from (deed.what, deed.gave, *deed.values)


def _of_sizes(document: HandOver, facts: Facts, settings: ContextSettings) -> Iterator[str]:
    phases = {phase.name: phase for phase in document.phases}
    for name in phases_of(facts):
        lost = sum(map(len, unreferenced(name, facts)))
        size = len(body_of(phases[name])) if name in phases else 0
        if size < settings.phase_share * lost:
            yield (
                f"Phase {name} has {size:,} characters for {lost:,} that cannot be read again, "
                f"less than {settings.phase_share:.0%}."
            )


def _of_pinned(facts: Facts) -> Iterator[str]:
    for each in facts.replaced:
        for part in each.said.all_parts:
            if part.pinned or each.said.role == "system":
                yield f"{part.origin} ({part.block}) is pinned, and no document may stand for it."
