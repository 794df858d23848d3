"""Models: what the engine asks of one, and what it says while none is configured."""

from runtime.model.port import Ending, Model, ModelAnswer, ModelRequest, ToolCall
from runtime.model.profile import Calling, Profile
from runtime.model.required import model_required, model_required_for

__all__ = [
    "Calling",
    "Ending",
    "Model",
    "ModelAnswer",
    "ModelRequest",
    "Profile",
    "ToolCall",
    "model_required",
    "model_required_for",
]
