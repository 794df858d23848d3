"""What bindings and expressions of a step can see."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from contracts import Json, Step, ValueType
from runtime.bindings import Reference
from runtime.engine.graph import roots_of
from runtime.errors import CapabilityFailed
from runtime.expressions import ExpressionFault, compile_expression, names_in
from runtime.once import once_for_each


class ExpressionFaulty(CapabilityFailed):
    """A condition or check of the plan cannot be read."""

    code = "EXPRESSION_FAULTY"


@dataclass(frozen=True, slots=True)
class Scope:
    """Values by root name, and which repetition they are for."""

    values: Mapping[str, Json]
    index: int | None = None
    """Under which index units are recorded here; None outside repetitions."""
    items: Reference | None = None
    """Where `item` comes from."""

    def repeated(self, index: int, values: Mapping[str, Json], *, items: Reference | None = None) -> Scope:
        """Return the scope of one repetition, with `index` and more names in front of the others."""
        return Scope(_over({"index": index, **values}, self.values), index=index, items=items)

    def after(self, step: str, output: Json) -> Scope:
        """Return the scope in which a step's own output is judged: its fields at the top, own fields first."""
        fields = output if isinstance(output, dict) else {}
        return replace(self, values=_over({step: output, **fields}, self.values))


def _over(first: Mapping[str, Json], rest: Mapping[str, Json]) -> Mapping[str, Json]:
    return ChainMap(cast("dict[str, Json]", first), cast("dict[str, Json]", rest))


class Outputs(dict[str, Json]):
    """Outputs of the plan's steps by id. Those of an earlier run are fetched when something reads them."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, Callable[[], Awaitable[Json]]] = {}

    def keep(self, step: str, fetch: Callable[[], Awaitable[Json]]) -> None:
        """Remember how to get the output of `step`."""
        self._kept[step] = fetch

    def kept(self, step: str) -> bool:
        """Whether the output of `step` is kept elsewhere."""
        return step in self._kept

    async def fetch(self, names: Iterable[str]) -> None:
        """Bring in the outputs of these steps that are kept elsewhere; other names do not matter."""
        for name in names:
            if name in self._kept and name not in self:
                self[name] = await self._kept[name]()


def holds(source: str, values: Mapping[str, Json]) -> bool:
    """Return whether the condition is true.

    Raises:
        ExpressionFaulty: it cannot be read, or names what is not there.
        ExpressionFailed: a value is missing or of the wrong type.
    """
    names = {path[0] for path in names_in(source)} & values.keys()
    try:
        return compile_expression(source, dict.fromkeys(names, ValueType.ANY)).holds(values)
    except ExpressionFault as fault:
        raise ExpressionFaulty(f"`{source}` cannot be used here: {fault.message}", expression=source) from fault


@once_for_each(1_024)
def names_read(step: Step) -> frozenset[str]:
    """Return every root that the step or one of its branches reads."""
    return frozenset(roots_of(step)).union(*(names_read(branch) for branch in step.parallel))
