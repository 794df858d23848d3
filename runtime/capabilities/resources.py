"""Arguments that are a text or the name of a file in the skill's folder."""

from __future__ import annotations

from contracts import Json
from runtime.errors import InvalidArguments


def text_of(argument: Json) -> str:
    """Return the text itself, or the content of the file that the loader put in its place."""
    match argument:
        case str():
            return argument
        case {"text": str(text)}:
            return text
    raise InvalidArguments(
        f"A text or a file of the skill's folder is needed here, not {type(argument).__name__}.", argument=argument
    )


def name_of(argument: Json) -> str:
    """Return the name of the file a text came from; empty for a text written in place."""
    match argument:
        case {"file": str(name)}:
            return name
    return ""
