"""`${NAME}` and `${NAME:-default}` in org.yaml and connections.yaml, filled from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agents.organisation.files import ArchiveFiles
from agents.organisation.yaml_source import Path, YamlSource

_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILES = ("org.yaml", "connections.yaml")


def variables_in(data: bytes) -> frozenset[str]:
    """Return every word of a bundle that may name a variable: as `${NAME}`, or as a secret of a connection."""
    files = ArchiveFiles(data)
    return frozenset(
        word
        for name in _FILES
        if name in files.names()
        for word in _WORD.findall(files.read(name).decode(errors="replace"))
    )


def fill(source: YamlSource, environ: Mapping[str, str]) -> None:
    """Fill the variables in every text of the file; one that is not set and has no default is a fault.

    `$$` stands for a dollar sign.
    """
    source.value = _filled(source.value, (), source, environ)


def _filled(value: Any, path: Path, source: YamlSource, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, (*path, key), source, environ) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, (*path, number), source, environ) for number, item in enumerate(value)]
    if not isinstance(value, str) or "$" not in value:
        return value

    def put(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name is None:
            return "$"
        found = environ.get(name) or default
        if found is None:
            source.faults.append(
                source.fault(
                    path,
                    f"The environment variable {name} is not set.",
                    f"Set it, or write a default: ${{{name}:-…}}.",
                )
            )
            return match[0]
        return found

    return _VARIABLE.sub(put, value)
