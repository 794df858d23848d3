"""Ids as people type them: in full, without their kind, or only the first or last letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from console.errors import UnknownId
from contracts import Id

AnyId = TypeVar("AnyId", bound=Id)

LEAST_LETTERS = 4
"""Fewer letters of an id would name another one tomorrow."""


def choose(kind: type[AnyId], typed: str, known: Sequence[AnyId]) -> AnyId:
    """Return the id among `known` that `typed` names: `card/01J9…`, `01J9…`, or letters only it begins or ends with.

    Raises:
        UnknownId: nothing is called that, or several things are.
    """
    wanted = typed.strip().removeprefix(f"{kind.KIND}/").upper()
    found = [each for each in known if each.ulid == wanted]
    if not found and len(wanted) >= LEAST_LETTERS:
        found = [each for each in known if each.ulid.startswith(wanted) or each.ulid.endswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        few = f" Type at least {LEAST_LETTERS} letters of an id." if len(wanted) < LEAST_LETTERS else ""
        newest = [str(each) for each in known[-3:]][::-1]
        near = f" The newest: {', '.join(newest)}." if newest else f" There is no {kind.KIND} yet."
        raise UnknownId(
            f"No {kind.KIND} is called {typed!r}.{few}{near}",
            typed=typed,
            kind=kind.KIND,
            count=0,
            candidates=[*newest],
        )
    raise UnknownId(
        f"{typed!r} names {len(found)} of them: {', '.join(found[:5])}. Type more of the id.",
        typed=typed,
        kind=kind.KIND,
        count=len(found),
        candidates=[str(each) for each in found],
    )
