"""The request that was under way when its process was killed: counted where a sign of it is left."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runtime.engine.drawn import ANSWER
from runtime.engine.react.talk import Talk
from runtime.ledger.port import Fragment, NewEvent
from runtime.model.course import ASKED, QUEUED
from runtime.model.port import Bounded, ModelRequest

LOOKED_AT = 100
"""Signs of an order, the newest: each step that is open has at most its last few among them."""


async def count_killed(talk: Talk, request: ModelRequest) -> None:
    """Count the request at its worst if the step's newest sign says that it went out, and no event what came of it.

    So it does where an event says that it was drawn from a budget that others share.

    An event before each request would tell it surely, and cost every step a commit. Signs tell it of requests that took
    their time, which are those that a kill meets.
    """
    model: object = talk.run.model
    if not isinstance(model, Bounded):
        return
    sign = await _newest(talk)
    went_out = sign is not None and sign.type == ASKED and not await _was_told(talk, sign)
    if not went_out and ANSWER not in (talk.unit.drawn or {}):  # of what is drawn, no event tells what came of it
        return
    data: Any = sign.data if sign is not None and went_out else {}
    since = datetime.fromisoformat(data["since"]) if data else None
    seconds = max(0.0, (sign.time - since).total_seconds()) if sign is not None and since is not None else 0.0
    usage = model.most(request).model_copy(update={"seconds": seconds, "steps": 0})
    event = NewEvent("model.stopped", talk.event(usage=usage.to_json(), worst_case=True, killed=True))
    await talk.run.journal.write_ahead(event)


async def _newest(talk: Talk) -> Fragment | None:
    run, mine = talk.run, (talk.step.id, talk.unit.index)
    signs = await run.store.fragments.newest([run.journal.stream], limit=LOOKED_AT)
    of_models = (each for each in signs if each.type in (ASKED, QUEUED))
    return next((each for each in of_models if (each.data["step"], each.data["index"]) == mine), None)


async def _was_told(talk: Talk, sign: Fragment) -> bool:
    """Whether a later event of the step tells what came of the request."""
    run, mine = talk.run, (talk.step.id, talk.unit.index)
    later = await run.ledger.read(run.journal.stream, after_version=sign.data["version"])
    return any((data.get("step"), data.get("index")) == mine for data in (event.data or {} for event in later))
