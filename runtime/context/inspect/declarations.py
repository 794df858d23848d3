"""The inspect tools as a model is offered them, in the function form of the OpenAI protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_REF = {"type": "string", "description": "The `__refId` of stored data, exactly as it stands above."}
_COUNT = {"type": "integer", "minimum": 1, "maximum": 1_000}
_AROUND = {"type": "integer", "minimum": 0, "maximum": 100}
_AT = {
    "type": "string",
    "description": "Path of an array, object or text inside, such as $.rows; without it the longest one.",
}


def _tool(
    name: str, description: str, required: Sequence[str], *, all_of_it: bool = False, **properties: Mapping[str, Any]
) -> Mapping[str, Any]:  # fmt: skip
    """Return the declaration of one tool; without `ref`, where that may be left out, it is about `all_of_it`."""
    parameters = {
        "type": "object",
        "properties": {"ref": _REF, **properties},
        "required": [*(() if all_of_it else ("ref",)), *required],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


DECLARATIONS: Mapping[str, Mapping[str, Any]] = {
    tool["function"]["name"]: tool
    for tool in (
        _tool(
            "outline",
            "Shows how stored data is built: fields with types, columns, headings, times. Cheapest; start here.",
            (),
        ),
        _tool(
            "search",
            "Finds where words, a number or an id stand in stored data, with the address of each place. Without ref "
            "in all that the steps of this order gave, answered and noted.",
            ("query",),
            all_of_it=True,
            query={
                "type": "string",
                "minLength": 1,
                "description": "What to look for, as written, or its words.",
            },
        ),
        _tool(
            "context",
            "Shows what stands at one place of stored data, and around it.",
            ("anchor",),
            anchor={
                "type": "string",
                "minLength": 1,
                "description": "An address as search gave it: $.rows[3], L12, $.body L12; or a text that stands in it.",
            },
            before={**_AROUND, "default": 2, "description": "Lines or items before it."},
            after={**_AROUND, "default": 2, "description": "Lines or items after it."},
        ),
        _tool(
            "head",
            "Shows the first items or lines of stored data.",
            (),
            n={**_COUNT, "default": 10, "description": "How many."},
            at=_AT,
        ),
        _tool(
            "tail",
            "Shows the last items or lines of stored data.",
            (),
            n={**_COUNT, "default": 10, "description": "How many."},
            at=_AT,
        ),
        _tool(
            "get_stored_data",
            "Gives stored data whole, or condensed where it is very long. Costs the most; use the other tools first.",
            (),
        ),
    )
}
"""Name → declaration, the cheapest first."""

INSPECT = tuple(DECLARATIONS)
"""Names of the tools; their answers are bounded, and never stored."""
