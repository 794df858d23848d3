"""Compaction of a step's conversation: due by how full the window is, recorded before a smaller prompt is sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

from contracts import Json, Materialisation, Usage
from runtime.canonical import clean, to_bytes, to_text
from runtime.context.compacting import Compacted, compact
from runtime.context.compaction import Compaction, Tier
from runtime.context.errors import ContextIncompressible
from runtime.context.handover import Abandoned, Deed, Facts, StoredRef
from runtime.context.memory import messages_kept
from runtime.context.parts import Form
from runtime.engine.context import clean_data
from runtime.engine.react.condensing import Condenser
from runtime.engine.react.costs import free_fact
from runtime.engine.react.messages import call_name, origin_of_call, whole_prompt
from runtime.engine.react.naming import ROLE, name_of
from runtime.engine.react.state import Call
from runtime.engine.react.talk import Talk
from runtime.engine.states import UnitState
from runtime.ledger.port import NewEvent
from runtime.model.port import Windowed

_log = logging.getLogger(__name__)
_WHAT = 300
"""Characters in which a hand-over says what was called."""


async def compact_if_due(talk: Talk) -> None:
    """Make the conversation smaller where it fills the window; what comes of it is recorded before it counts.

    A try that failed or gained too little changes nothing but when it is tried again.

    Raises:
        ContextIncompressible: what may not be compressed fills the window by itself.
    """
    run, react = talk.run, talk.react
    model: object = run.model
    prompt = whole_prompt(talk)
    if not isinstance(model, Windowed):
        return
    window = model.room(ROLE)
    declared = to_text(clean({"tools": list(talk.box.declarations())}))
    if (
        sum(len(part.text.encode()) for part in prompt.parts) + len(declared.encode())
        < run.context.light_share * window
    ):
        return  # a token holds a byte at least, so that most conversations need not be counted
    count = run.gauge.counter(name_of(talk))
    beside = await asyncio.to_thread(count, declared)  # its tables take half a second to load
    condenser = Condenser(talk, f"answer:{react.number + 1}")
    finished = sum(run.view.state_of(each.id) is UnitState.DONE for each in run.order.plan.steps)
    try:
        found = await compact(
            prompt, _facts(talk), window, count, ask=condenser.ask, state=react.compaction, settings=run.context,
            beside=beside, keep=messages_kept(finished, run.context),
        )  # fmt: skip
    except ContextIncompressible as error:
        if condenser.usage != Usage():  # the words that came to nothing were paid for
            await _record(talk, react.compaction, condenser, tier=Tier.FULL, why=error.facts["why"])
        raise
    if found.state == react.compaction:
        return
    if found.tier >= Tier.WARN:
        _log.warning(
            "the conversation of step %s of %s fills its model's window (%s)", talk.step.id, run.order.order_id,
            found.tier.name.lower(),
        )  # fmt: skip
    if isinstance(found, Compacted):
        await _record(talk, found.state, condenser, tier=found.tier, before=found.before, after=found.after)
    else:
        await _record(talk, found.state, condenser, tier=found.tier, why=found.why.value)


async def _record(talk: Talk, state: Compaction, condenser: Condenser, *, tier: Tier, **sizes: Json) -> None:
    """Write down how the conversation is shown from now on, why, and what finding it out took."""
    redacted = talk.run.journal.redact(state.model_dump(mode="json", exclude_defaults=True))
    used = condenser.usage.model_copy(update={"seconds": condenser.seconds})
    free = free_fact(talk, condenser.role, used)
    facts: dict[str, Json] = {"tier": tier.name.lower(), **sizes, "usage": used.to_json(), **free}
    blobs = []
    text = to_bytes(redacted)
    if len(text) > talk.run.settings.inline_output:
        digest, blob = talk.run.journal.blob_of(redacted)
        blobs.append(blob)
        facts["state_sha256"] = digest
    else:
        facts["state"] = redacted
    await talk.run.journal.write(NewEvent("context.compacted", clean_data(talk.event(**facts))), blobs=blobs)
    talk.react.compaction = state


def _facts(talk: Talk) -> Facts:
    """Return what the ledger has of the conversation, against which the hand-over is held."""
    calls = [call for turn in talk.react.turns for call in turn.calls]
    return Facts(
        request=talk.run.order.objective,
        deeds=tuple(_deed(talk, call) for call in calls if call.settled),
        abandoned=tuple(Abandoned(way=f"answer {number}", why=why.message) for number, why in talk.react.told),
        stored=tuple(_stored(talk)),
        originals={origin_of_call(call): ref for call in calls if (ref := _readable_under(call)) is not None},
        phase=f"step {talk.step.id}",
    )


def _deed(talk: Talk, call: Call) -> Deed:
    arguments = to_bytes(clean(dict(call.arguments))).decode()
    what = f"{call.use or call.name} {arguments}"
    gave = call.told or call.shown
    if call.result is not None and not gave:
        gave = to_bytes(clean(call.result.output)).decode()
    return Deed(
        evidence=call.id,
        phase=f"step {talk.step.id}",
        what=what if len(what) <= _WHAT else f"{what[:_WHAT]}…",
        gave=gave if call.result is not None else "",
        call=call_name(call),
        ref=_readable_under(call),
        effect=call.changed_the_world,
        failed=call.problem.message if call.failed and call.problem is not None else "",
    )


def _readable_under(call: Call) -> str | None:
    """Return the reference under which what a call gave can be read again: of a view, that of the data it showed."""
    if call.result is None:
        return None
    if not call.told or call.use is not None:
        return call.result.result_sha256
    looked_into = str(call.arguments.get("ref") or "")
    return call.whole_of or looked_into or next(iter(call.refs), call.result.result_sha256)


def _stored(talk: Talk) -> Iterator[StoredRef]:
    for each in talk.inputs:
        if each.form is not Materialisation.FULL:
            yield StoredRef(ref=each.ref, about=f"input {each.name}", length=len(each.text))
    for part in talk.opening:
        if part.ref is not None and part.form is Form.SUMMARY:
            yield StoredRef(ref=part.ref, about=part.origin, length=len(part.text))
    for call in talk.react.calls:
        if call.stored and call.same_as is None and call.result is not None:
            yield StoredRef(ref=call.result.result_sha256, about=f"what {call.use} gave", length=call.length)
