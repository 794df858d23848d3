"""A JSON object that a command is given in a file."""

from __future__ import annotations

from pathlib import Path

from contracts import Json
from runtime.errors import InvalidArguments
from runtime.strict_json import read_json

_MOST_KIB = 256


def object_in(file: Path) -> dict[str, Json]:
    """Return the object; raise InvalidArguments with what is wrong and where."""
    value = json_in(file)
    if not isinstance(value, dict):
        raise InvalidArguments(f'{file} must hold a JSON object, such as {{"receipt": "R-17"}}.', file=str(file))
    return value


def json_in(file: Path) -> Json:
    """Return what the file holds; raise InvalidArguments with what is wrong and where."""
    try:
        if file.stat().st_size > _MOST_KIB * 1024:
            raise InvalidArguments(f"{file} is larger than {_MOST_KIB} KiB.", file=str(file))
        value: Json = read_json(file.read_bytes(), once=True)
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {error.strerror}.", file=str(file)) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"{file} holds no JSON that can be used: {error}.", file=str(file)) from error
    return value
