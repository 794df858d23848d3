"""The refusal of a step that needs a model while none is configured."""

from __future__ import annotations

from runtime.errors import ModelRequired

SETTING = "model.reason"
VARIABLE = "SILICON_MODEL__REASON"


def model_required(step: str) -> ModelRequired:
    """Return the error that says which setting would let the step run."""
    return ModelRequired(
        f"Step {step} lets a model reason, and no model is set. Name one in the setting {SETTING} (environment "
        f"variable {VARIABLE}), with its endpoint in model.base_url, or give the step a capability instead (use).",
        step=step,
        setting=SETTING,
        variable=VARIABLE,
    )
