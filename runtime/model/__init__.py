"""Models: what the engine will ask of one, and what it says while none is configured."""

from runtime.model.port import Model, ModelAnswer, ModelRequest, ToolCall
from runtime.model.required import model_required

__all__ = ["Model", "ModelAnswer", "ModelRequest", "ToolCall", "model_required"]
