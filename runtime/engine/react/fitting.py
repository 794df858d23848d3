"""The next request, made to fit the model's window before anything is paid for."""

from __future__ import annotations

from runtime.context.budget import Squeeze, exceeded
from runtime.context.errors import ContextIncompressible
from runtime.engine.react.compacting import compact_if_due
from runtime.engine.react.messages import prompt_of, request_of
from runtime.engine.react.naming import ROLE, name_of
from runtime.engine.react.talk import Talk
from runtime.model.port import ModelRequest, Windowed


async def fitting_request(talk: Talk) -> ModelRequest:
    """Return the next request; what gave way for it stays away as long as the step goes on.

    Raises:
        PromptBudgetExceeded: it does not fit though everything gave way that may.
        RepresentationTwice: it would show one datum in two forms.
    """
    model: object = talk.run.model
    talk.squeeze = Squeeze(talk.react.squeezed)
    incompressible = None
    try:
        await compact_if_due(talk)
    except ContextIncompressible as error:  # what is left has its order in which it gives way
        incompressible = error
    while True:
        prompt = prompt_of(talk)
        request = request_of(talk, prompt)
        if not isinstance(model, Windowed):
            return request
        room = model.room(ROLE)
        if await talk.run.gauge.fits(request, model=name_of(talk), room=room):
            return request
        if talk.squeeze is Squeeze.MEMORY:
            raise exceeded(prompt, request, room=room) from incompressible
        talk.squeeze = Squeeze(talk.squeeze + 1)
