"""Metrics whose value a Python function of the folder gives.

The function sees nothing but the values it is called with. It runs where all Python of the folder runs, in a sandbox
without network, files or secrets, which whoever makes the registry hands in.
"""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from contracts import Json, PythonFunction
from runtime.errors import CapabilityFailed

RunScript: TypeAlias = Callable[[str, str, Mapping[str, Json]], Awaitable[Json]]
"""Script, its name for messages, and its `inputs` → what it set as `result`."""

CALLED = "value"
"""The function that a file must have."""
_CALL = f'\n\nresult = [{CALLED}(**bucket) for bucket in inputs["buckets"]]\n'


async def values_by(function: PythonFunction, given: Sequence[Mapping[str, Json]], run: RunScript) -> Sequence[Json]:
    """Return what the function gives for each bucket; None is missing.

    Raises:
        CapabilityFailed: it failed, with the line.
    """
    if not given:
        return []
    result = await run(function.text + _CALL, function.file, {"buckets": [dict(each) for each in given]})
    if not isinstance(result, list) or len(result) != len(given):
        raise CapabilityFailed(f"{function.file} must not set `result` itself.", script=function.file)
    return result


def faults_of(function: PythonFunction, takes: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield line and words of what is wrong with the file, as far as it shows without running it."""
    try:
        parsed = ast.parse(function.text)
    except (SyntaxError, ValueError) as error:
        yield getattr(error, "lineno", None) or 1, f"This is no Python: {getattr(error, 'msg', error)}."
        return
    found = [node for node in parsed.body if isinstance(node, ast.FunctionDef) and node.name == CALLED]
    if not found:
        yield 1, f"There is no function `{CALLED}` here."
        return
    arguments = found[-1].args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    needed = names[: len(names) - len(arguments.defaults) - sum(each is not None for each in arguments.kw_defaults)]
    if arguments.posonlyargs:
        yield found[-1].lineno, f"`{CALLED}` is called by the names of its arguments; take the `/` out."
    for name in needed:
        if name not in takes:
            yield found[-1].lineno, f"Nothing in `takes` is called `{name}`."
    for name in takes:
        if name not in names and arguments.kwarg is None:
            yield found[-1].lineno, f"`{CALLED}` has no argument `{name}`, which stands in `takes`."
