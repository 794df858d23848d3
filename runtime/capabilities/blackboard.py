"""`blackboard.read`, `blackboard.write`: values that all employees of one execution share."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Effect, Json, Parameter, Tier, ValueType
from runtime.blackboard.port import Blackboard
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.errors import InvalidArguments

_KEY = Parameter(type=ValueType.STRING, description="Name of the value.", example="cancel-rate")

READ = CapabilitySpec(
    name="blackboard.read",
    kind="builtin_tool",
    description="Read a value that the employees of this execution share.",
    parameters={"key": _KEY},
    gives={
        "key": "string",
        "found": "boolean",
        "value": "any",
        "version": "integer",
        "employee": "any",
        "step": "any",
        "conflicts": "array",
    },
    tier=Tier.COGNITIVE,
)
WRITE = CapabilitySpec(
    name="blackboard.write",
    kind="builtin_tool",
    description="Write a value for the employees of this execution; refused when it changed since `expected_version`.",
    parameters={
        "key": _KEY,
        "value": Parameter(type=ValueType.ANY, description="The value; large ones go by reference."),
        "expected_version": Parameter(
            type=ValueType.INTEGER,
            description="Version that was read; 0 for a new key. Absent, the value goes on top of what is there.",
            required=False,
        ),
    },
    gives={"key": "string", "version": "integer"},
    effect=Effect.IDEMPOTENT,
    tier=Tier.COGNITIVE,
)


class ReadBlackboard:
    """`blackboard.read`."""

    spec = READ

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the value with who wrote it; `found` is false for a key that was never written."""
        key = str(arguments["key"])
        entry = await _board(context, READ.name).read(key)
        if entry is None:
            nothing = {"key": key, "found": False, "value": None, "version": 0, "employee": None, "step": None}
            return CallResult({**nothing, "conflicts": []})
        return CallResult(
            {
                "key": key, "found": True, "value": entry.value, "version": entry.version,
                "employee": entry.employee, "step": entry.step,
                "conflicts": [
                    {"version": each.version, "value": each.value, "employee": each.employee, "step": each.step}
                    for each in entry.conflicts
                ],
            }
        )  # fmt: skip


class WriteBlackboard:
    """`blackboard.write`."""

    spec = WRITE

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the new version; the value is written in the commit that finishes the step."""
        board, key = _board(context, WRITE.name), str(arguments["key"])
        entry, named = await board.read(key), arguments.get("expected_version")
        version = named if isinstance(named, int) else entry.version if entry else 0
        append = board.write(
            key, arguments.get("value"), expected_version=version, employee=context.order.employee,
            step=context.step, order=context.order.order_id, unseen=not isinstance(named, int),
        )  # fmt: skip
        return CallResult({"key": key, "version": version + 1}, appends=(append,))


def _board(context: CallContext, capability: str) -> Blackboard:
    if context.blackboard is None:
        raise InvalidArguments(f"{capability}: this execution has no blackboard.", capability=capability)
    return context.blackboard
