"""What follows from a value that never changes, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def once_for_each(most: int) -> Callable[[Callable[[T], R]], Callable[[T], R]]:
    """Let a function of one frozen value be worked out once for each such value, and remember up to `most`.

    A value is known again by being the same object, which tells more than that it is equal and costs nothing; whatever
    changed is another object. What the function returns is shared, so nobody may change it.
    """

    def decorate(work_out: Callable[[T], R]) -> Callable[[T], R]:
        known: dict[int, tuple[T, R]] = {}

        @wraps(work_out)
        def of(value: T) -> R:
            held = known.get(id(value))
            if held is not None and held[0] is value:  # held, so that no other object gets its address
                return held[1]
            result = work_out(value)
            if len(known) >= most:
                known.clear()
            known[id(value)] = (value, result)
            return result

        return of

    return decorate
