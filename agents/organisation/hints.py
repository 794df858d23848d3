"""How to mend the name of a capability that there is not."""

from __future__ import annotations

from collections.abc import Iterable

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft

LISTS = {"mcp": "tools", "http": "operations", "bridge": "operations"}
"""Under which key a connection of a kind lists what may be called of it."""
_TOLD_BY_DOCTOR = " `silicon doctor` tells what the server offers."


def capability_hint(draft: Draft, name: str, others: Iterable[str] = ()) -> str:
    """Return a hint at what its connection declares, or else at the nearest of all capabilities and `others`."""
    connection, dot, operation = name.partition(".")
    read = draft.connections.get(connection) if dot else None
    if read is None:
        return nearest(name, {*draft.specs, *others})
    if own := [each for each in draft.specs if each.startswith(f"{connection}.")]:
        return nearest(name, own)
    key = LISTS.get(read.value.kind, "operations")
    doctor = _TOLD_BY_DOCTOR if read.value.kind == "mcp" else ""
    return f"The connection `{connection}` lists nothing: put `{operation}` under its `{key}`.{doctor}"
