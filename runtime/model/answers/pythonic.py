"""Calls written as code: `[look(airport="JFK", days=2), send(to="x")]`. The code is read, never run."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Sequence
from typing import Any

from runtime.model.answers.raw import RawCall

_LOOKS_SO = re.compile(r"\s*\[?\s*[\w.]{1,200}\s*\(.*\)\s*\]?\s*", re.DOTALL)
_LONGEST = 20_000


def calls_of_code(text: str) -> Sequence[RawCall]:
    """Return the calls that a text consists of, written as code with plain values; none where it is anything else."""
    if len(text) > _LONGEST or not _LOOKS_SO.fullmatch(text):
        return ()
    try:
        with warnings.catch_warnings(action="ignore"):  # the parser has its own opinion of backslashes
            code = ast.parse(text.strip(), mode="eval").body
        return [_call_of(each) for each in (code.elts if isinstance(code, ast.List | ast.Tuple) else [code])]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ()


def _call_of(code: ast.expr) -> RawCall:
    """Return a call whose arguments all have names; raise ValueError or TypeError for anything else."""
    if not isinstance(code, ast.Call) or code.args:
        raise ValueError("no call with named arguments")
    arguments: dict[str, Any] = {}
    for each in code.keywords:
        if each.arg is None or each.arg in arguments:
            raise ValueError("no call with named arguments")
        arguments[each.arg] = ast.literal_eval(each.value)
    return RawCall("", ast.unparse(code.func), json.dumps(arguments))
