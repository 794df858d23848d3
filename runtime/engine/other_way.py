"""The other way to do a step: what `otherwise` says, with the step's own where it says nothing."""

from __future__ import annotations

from contracts import Step
from runtime.engine.view import Unit


def other_way(step: Step) -> Step | None:
    """Return the step as its `otherwise` does it, None when it has none.

    Whoever does the step does it the other way too, unless `otherwise` names somebody else: nobody gets to do with it
    what is another's.
    """
    other = step.otherwise
    if other is None:
        return None
    named = other.use is not None or other.skill is not None
    return step.model_copy(
        update={
            "by": other.by or step.by,
            "use": other.use if named else step.use,
            "skill": other.skill if named else step.skill,
            "order": None,
            "ask": None if named else step.ask,
            "react": None if named else step.react,
            "arguments": other.arguments or step.arguments,
            "otherwise": None,
        }
    )


def form_of(step: Step, unit: Unit) -> Step:
    """Return the step as it is to be done now: its own form, or the other way after a revision."""
    return (other_way(step) if unit.change == "otherwise" else None) or step
