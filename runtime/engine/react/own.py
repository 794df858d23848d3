"""Tools of the engine itself: about what the model knows, not about the world. They are no capabilities of anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contracts import Json, Materialisation, Parameter, Step, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.context.compaction import Compaction
from runtime.context.parts import Form, Part
from runtime.engine.context import Run
from runtime.engine.finish import Draft
from runtime.engine.graph import dependencies
from runtime.engine.react.inspecting import SPECS, WHOLE, look_into
from runtime.engine.react.offer import OWN
from runtime.engine.react.state import Call
from runtime.engine.react.talk import Talk
from runtime.errors import InvalidArguments
from runtime.ledger.port import NewEvent

WORKING_MEMORY = CapabilitySpec(
    name="working_memory",
    kind=OWN,
    description="Note what later steps of this plan need to know and no result tells: a decision with its reason, "
    "a way that was given up, something odd. One thing a call, in a sentence or two; no results, no plans.",
    parameters={"insight": Parameter(type=ValueType.STRING, description="What is worth knowing later.")},
    gives={},
    tier=Tier.COGNITIVE,
    any_tier=True,
)


def own_tools(run: Run, step: Step) -> Sequence[CapabilitySpec]:
    """Return those that make sense from the beginning of a step: nobody reads what the last one notes."""
    last = run.order.plan.steps[-1]
    return () if step.id == last.id or len(run.order.plan.steps) == 1 else (WORKING_MEMORY,)


def offer_inspection(talk: Talk, parts: Iterable[Part] = ()) -> None:
    """Give the model the tools that look into what there is; they stay as long as the step goes on.

    A step that comes after others has all but the last from its beginning, since a search reaches what those gave.
    `get_stored_data` comes once something is stored.

    Args:
        parts: of the prompt that is about to be sent, where one is.
    """
    if dependencies(talk.run.order.plan).get(talk.step.id):
        talk.box.offer(spec for name, spec in SPECS.items() if name != WHOLE)
    refers = any(each.form is not Materialisation.FULL for each in talk.inputs)
    listed = any(part.ref is not None for part in talk.opening)
    looked = any(call.stored or call.name in SPECS for call in talk.react.calls)
    looked = looked or talk.react.compaction != Compaction()
    if refers or listed or looked or any(part.form is Form.SUMMARY for part in parts):
        talk.box.offer(SPECS.values())


async def carry_out_own(talk: Talk, call: Call, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> Draft:
    """Do what the call asks for.

    Raises:
        InvalidArguments: it cannot be done like that.
    """
    if spec.name in SPECS:
        return await look_into(talk, call, spec.name, arguments)
    return _note(talk, call, arguments)


def _note(talk: Talk, call: Call, arguments: Mapping[str, Json]) -> Draft:
    text, most = " ".join(str(arguments["insight"]).split()), talk.run.context.insight_chars
    if not text:
        raise InvalidArguments("There is nothing in the insight.", happened="no")
    if len(text) > most:
        raise InvalidArguments(f"An insight has {most} characters at most; this one has {len(text):,}.", happened="no")
    by = {**talk.unit.place, "call": call.id}
    noted = NewEvent("insight.noted", {"by": by, "text": talk.run.journal.redact(text)})
    return Draft({"noted": True}, started_at=talk.run.clock.now(), seconds=0.0, events=(noted,))
