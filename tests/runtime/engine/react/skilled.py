"""A model that has skills done: what its tests share."""

from __future__ import annotations

from typing import Any

from contracts import Effect, PlanDefinition
from runtime.ledger.port import Store
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Act, Tool, World
from tests.fakes.model import PlayedModel, calls

THINK: dict[str, Any] = {"id": "think", "react": "How many?", "skills": ["count", "pay-out"], "gives": {"n": "integer"}}


def a_plan(*steps: dict[str, Any], **parameters: str) -> PlanDefinition:
    typed = {name: {"type": kind, "required": False} for name, kind in parameters.items()}
    return PlanDefinition.model_validate({"parameters": typed, "steps": steps})


def a_world(store: Store, clock: HandClock, *answers: Any, look: Act | None = None, **more: Any) -> World:
    """Return a world whose model may have counted (a read) and paid out (an effect with a way back)."""
    world = World(
        store, clock,
        Tool("look", look or (lambda a, c: {"rows": 3, "at": a.get("at")})),
        Tool("pay", lambda a, c: {"paid": a.get("to")}, Effect.WRITE, can_look_up=True),
        Tool("take-back", lambda a, c: {"back": a.get("to")}, Effect.WRITE),
        **more,
    )  # fmt: skip
    world.model = PlayedModel(*answers)
    back = {"use": "take-back", "with": {"to": "{{ to }}"}}
    world.skills = {
        "count": a_plan({"id": "see", "use": "look", "with": {"at": "{{ at }}"}}, at="any"),
        "pay-out": a_plan({"id": "give", "use": "pay", "with": {"to": "{{ to }}"}, "compensate": back}, to="string"),
    }
    return world


def counting(*places: Any) -> Any:
    return calls(*(("count", {"at": place}) for place in places))


def paying(*people: str) -> Any:
    return calls(*(("pay-out", {"to": person}) for person in people))


def played(world: World) -> PlayedModel:
    assert isinstance(world.model, PlayedModel)
    return world.model


def told(world: World) -> list[str]:
    """Return what the tools said to the model, in the newest request."""
    return [message["content"] for message in played(world).requests[-1].messages if message["role"] == "tool"]
