"""Data that a model passes on without having seen the whole of it: by the id it was shown under, and nothing else.

What is kept by reference stands in the conversation as `{"__stored": true, "__refId": ID, …}`. An argument that is
`{"__ref": ID}`, or the bare id, becomes the original before it is looked at by anything else, so that checks, approvals
and evidence are about the original. Ids are taken as they are: a part of one, or one that is nearly right, is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from typing import cast

from contracts import Json
from runtime.canonical import clean, sha256, to_bytes
from runtime.engine.react.state import Call, Turn
from runtime.engine.react.talk import Talk
from runtime.errors import InvalidArguments
from runtime.ledger.port import Blobs

REF = "__ref"
_STORED, _SHOWN_AS = "__stored", "__refId"


class ReferenceUnknown(InvalidArguments):
    """A model names data that it was not shown in this step."""

    code = "REFERENCE_UNKNOWN"


async def put_back_in(talk: Talk, turn: Turn) -> None:
    """Put the originals into the calls of an answer that are not settled yet."""
    for call in turn.calls:
        if not call.settled and not call.fault:
            await put_back(talk, call)


async def put_back(talk: Talk, call: Call) -> None:
    """Put the originals into the arguments of a call; one that names what was not shown has arguments at fault."""
    if call.whole is not None or call.fault or not any(map(_may_refer, call.arguments.values())):
        return
    if talk.box.is_own(call):
        return
    try:
        found = {name: await original_of(talk, value, call.answer) for name, value in call.arguments.items()}
    except ReferenceUnknown as unknown:
        call.unknown_reference = unknown.message
        return
    if found != call.arguments:
        call.whole = found


async def original_of(talk: Talk, value: Json, answer: int) -> Json:
    """Return what a value of that answer stands for: the original, or itself.

    Raises:
        ReferenceUnknown: it refers to what was not shown before that answer.
    """
    return await _original(value, partial(_shown_before, talk, answer), talk.run.blobs)


async def original_under(talk: Talk, ref: str, answer: int) -> Json:
    """Return the stored datum of that reference.

    Raises:
        ReferenceUnknown: it was not shown before that answer.
    """
    shown = _shown_before(talk, answer)
    if ref not in shown:
        raise _unknown(ref)
    original = shown[ref]
    return cast(Json, json.loads(await talk.run.blobs.get(ref)) if original is _IN_BLOBS else original)


async def _original(value: Json, shown: Callable[[], Mapping[str, object]], blobs: Blobs) -> Json:
    name = reference_in(value, shown)
    if name is not None:
        original = shown()[name]
        return cast(Json, json.loads(await blobs.get(name)) if original is _IN_BLOBS else original)
    if isinstance(value, list):
        return [await _original(each, shown, blobs) if isinstance(each, dict | list) else each for each in value]
    if isinstance(value, dict):
        return {
            key: await _original(each, shown, blobs) if isinstance(each, dict | list) else each
            for key, each in value.items()
        }
    return value


def reference_in(value: Json, shown: Callable[[], Container[str]]) -> str | None:
    """Return the id that a value is nothing but a reference to; None for any other value.

    Raises:
        ReferenceUnknown: it refers to what is not in `shown`.
    """
    if isinstance(value, str):
        return value if len(value) == _LENGTH and value in shown() else None
    if not isinstance(value, dict):
        return None
    if value.keys() == {REF}:
        name = value[REF]
    elif value.get(_STORED) is True and _SHOWN_AS in value:  # what stood for the data, copied whole
        name = value[_SHOWN_AS]
    else:
        return None
    if isinstance(name, str) and name in shown():
        return name
    raise _unknown(name)


def _unknown(name: object) -> ReferenceUnknown:
    return ReferenceUnknown(
        f"Nothing was shown in this step under the reference {str(name)[:80]!r}. Use a `{_SHOWN_AS}` exactly as it "
        f'stands in a result above, as {{"{REF}": "…"}}, or give the value itself.',
        happened="no",
    )


_LENGTH = len(sha256(b""))
_IN_BLOBS = object()
"""Stands for an original that the blob store has."""


def _may_refer(value: Json) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and len(value) == _LENGTH)


def _shown_before(talk: Talk, answer: int) -> dict[str, object]:
    """Return id → original of all that the model had been shown by reference when it gave that answer."""
    return dict(_shown(talk, answer))


def _shown(talk: Talk, answer: int) -> Iterator[tuple[str, object]]:
    limit = talk.run.settings.inline_output
    yield from ((each.ref, each.value) for each in talk.inputs)
    yield from ((part.ref, _IN_BLOBS) for part in talk.opening if part.ref is not None)
    for turn in talk.react.turns:
        if turn.number >= answer:
            return
        for call in turn.calls:
            yield from _if_long(dict(call.arguments), limit)
            yield from ((ref, _IN_BLOBS) for ref in call.refs)
            if call.result is not None:
                kept = call.result.output_sha256
                yield (call.result.result_sha256, call.result.output) if kept is None else (kept, _IN_BLOBS)


def _if_long(value: Mapping[str, Json], limit: int) -> Iterator[tuple[str, object]]:
    """Yield what a request shows by its beginning only."""
    data = to_bytes(clean(value))
    if len(data.decode()) > limit:
        yield sha256(value), value
