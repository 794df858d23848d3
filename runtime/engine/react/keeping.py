"""How what a call gave stands in the conversation from now on: decided once, when it ends, and recorded with it."""

from __future__ import annotations

from typing import Any

from runtime.canonical import clean, sha256, to_bytes
from runtime.context.digest import digest
from runtime.context.result_store import is_stored, preview
from runtime.engine.finish import Draft
from runtime.engine.react.below import told_by_skill
from runtime.engine.react.talk import Talk


def shown_as(talk: Talk, draft: Draft, *, apart: bool) -> tuple[dict[str, Any], list[bytes]]:
    """Return the facts of a call's event that say how its result is shown, and the blobs that belong to it.

    A tool of the engine says itself what its model is told. Of a result that is stored that is a digest, or the words
    of its skill's template, beside its reference; of any other those words, or the whole.

    Args:
        apart: its output is kept apart from the event, whatever its size.
    """
    if draft.told is not None:
        more = {"whole_of": draft.whole_of or None, "refs": list(draft.refs) or None}
        return {"told": draft.told, **{name: value for name, value in more.items() if value}}, []
    told, context = told_by_skill(talk, draft), talk.run.context
    data = to_bytes(clean(draft.output))
    text = data.decode()
    if not apart and not is_stored(draft.output, len(text), context, always=talk.step.always_store):
        return ({"told": told} if told else {}), []
    about = told or digest(draft.output, limit=context.digest_chars, length=len(text))
    facts = {"stored": True, "shown": about, "length": len(text)}
    if len(text) <= context.preview_chars:  # what is kept of it anyway is the whole
        return facts, []
    beginning = preview(text, context).encode()
    return {**facts, "preview_sha256": sha256(beginning)}, [beginning]
