"""The arguments of a call: an object that can be worked with, or the reason why there is none."""

from __future__ import annotations

from contracts import Json
from runtime.canonical import clean
from runtime.strict_json import read_json


def read_arguments(text: str) -> tuple[dict[str, Json], str]:
    """Return the arguments that a text holds and what is wrong with it; with a fault there are no arguments.

    No text and null are no arguments. An object that was turned into text twice is one object.
    """
    if not text.strip():
        return {}, ""
    try:
        value = read_json(text, once=True)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = read_json(value, once=True)
        read = clean(value)
    except RecursionError:
        return {}, "they have too many brackets inside each other"
    except ValueError as error:
        return {}, f"they are no JSON that can be read: {error}"
    if read is None:
        return {}, ""
    return (read, "") if isinstance(read, dict) else ({}, f"they are {_kind(read)} where an object was due")


def _kind(value: Json) -> str:
    return {bool: "true or false", str: "text", list: "a list"}.get(type(value), "a number")
