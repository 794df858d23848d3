"""A conversation with a model that looks and pays, for the tests of what is durable in it."""

from __future__ import annotations

from typing import Any

from contracts import Effect
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel, calls

THINK: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look", "pay"], "gives": {"n": "integer"}}


def a_world(store: Any, clock: HandClock, *answers: Any, look: Any = None, can_look_up: bool = False) -> World:
    world = World(
        store,
        clock,
        Tool("look", look or (lambda a, c: {"seen": a.get("at")})),
        Tool("pay", lambda a, c: {"paid": a["to"]}, Effect.WRITE, can_look_up=can_look_up),
    )
    world.model = PlayedModel(*answers)
    return world


def played(world: World) -> PlayedModel:
    assert isinstance(world.model, PlayedModel)
    return world.model


def paying(*people: str) -> Any:
    return calls(*(("pay", {"to": person}) for person in people))
