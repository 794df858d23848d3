"""Which model reasons, by its name."""

from __future__ import annotations

from runtime.engine.react.talk import Talk
from runtime.model.port import Named

ROLE = "reason"
"""Which model of the settings reasons in steps."""


def name_of(talk: Talk) -> str:
    """Return the name of the model that reasons; empty where it cannot tell."""
    model: object = talk.run.model
    return model.name_of(ROLE) if isinstance(model, Named) else ""
