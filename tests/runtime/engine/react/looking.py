"""A conversation with a model that looks at something and answers with a number."""

from __future__ import annotations

from typing import Any

from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel

THINK: dict[str, Any] = {"id": "think", "react": "How many?", "tools": ["look"], "gives": {"n": "integer"}}


def a_world(store: SqlStore, clock: HandClock, *answers: Any, look: Any = None, **settings: Any) -> World:
    world = World(store, clock, Tool("look", look or (lambda a, c: {"rows": 3, **a})), **settings)
    world.model = ScriptedModel(*answers)
    return world


def model_of(world: World) -> ScriptedModel:
    assert isinstance(world.model, ScriptedModel)
    return world.model
