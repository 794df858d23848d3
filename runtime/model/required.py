"""The refusal of a step that needs a model while none is configured."""

from __future__ import annotations

from runtime.errors import ModelRequired

SETTING = "model.reason"
VARIABLE = "SILICON_MODEL__REASON"


def model_required(step: str) -> ModelRequired:
    """Return the error that says which setting would let the step run."""
    return ModelRequired(
        f"Step {step} lets a model reason, and no model is set. Name one in the setting {SETTING} (environment "
        f"variable {VARIABLE}), with its endpoint in OPENAI_BASE_URL, or give the step a capability instead (use).",
        step=step,
        setting=SETTING,
        variable=VARIABLE,
    )


def model_required_for(mode: str) -> ModelRequired:
    """Return the error that says which setting would let a model make a plan, or an answer, for a goal."""
    return ModelRequired(
        f"The mode `{mode}` lets a model work on the goal, and no model is set. Name one in the setting {SETTING} "
        f"(environment variable {VARIABLE}), or name a skill (--skill).",
        setting=SETTING,
        variable=VARIABLE,
    )
