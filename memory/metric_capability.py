"""The capability `metric`: the one definition of a number, read in a plan."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from contracts import Grain, Json, Parameter, Tier, ValueType
from memory import buckets
from memory.metrics import MetricRegistry, MetricValue
from runtime.canonical import clean, sha256
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.errors import InvalidArguments

SPEC = CapabilitySpec(
    name="metric",
    kind="builtin_tool",
    description="Reads a metric by its one definition, as known at the moment of the execution.",
    parameters={
        "name": Parameter(type=ValueType.STRING, description="The metric."),
        "grain": Parameter(type=ValueType.STRING, choices=tuple(grain.value for grain in Grain)),
        "bucket": Parameter(type=ValueType.STRING, required=False, description="Local period; absent: the one now."),
        "last": Parameter(type=ValueType.INTEGER, required=False, description="How many periods up to that one."),
        "where": Parameter(type=ValueType.OBJECT, required=False, description="Dimension and value of one slice."),
        "by": Parameter(type=ValueType.ARRAY, required=False, description="Dimensions to split by."),
    },
    gives={
        "metric": "string",
        "unit": "string",
        "version": "string",
        "bucket": "string",
        "value": {"type": ["number", "null"]},
        "n": "integer",
        "state": "string",
        "values": "array",
    },
    tier=Tier.EXECUTION,  # it reads data, and whoever reads data does it in a slot
)


class MetricCapability:
    """Reads metrics; the top-level value is that of the latest bucket without a split, missing where it is missing."""

    spec = SPEC

    def __init__(self, registry: MetricRegistry) -> None:
        self._registry = registry

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Read the buckets asked for; all of them are in `values`, oldest first."""
        name, grain = str(arguments["name"]), Grain(str(arguments["grain"]))
        metric = self._registry.get(name)
        where, by = _mapping(arguments.get("where")), _names(arguments.get("by"))
        last = self._start_of(arguments.get("bucket"), grain, context.known_at)
        start = buckets.back(last, grain, _count(arguments.get("last")) - 1)
        end = buckets.next_start(last, grain)
        read = await self._registry.read(name, grain, at=context.known_at, start=start, end=end, where=where, by=by)
        latest = read.values[-1] if read.values and not by else None
        output = {
            "metric": name,
            "unit": metric.unit,
            "version": read.version,
            "bucket": buckets.to_text(last, grain),
            "value": latest.value if latest else None,
            "n": latest.n if latest else sum(value.n for value in read.values),
            "state": latest.state.value if latest else ("value" if read.values else "missing"),
            "values": [_to_json(value) for value in read.values],
        }
        return CallResult(output, query_sha256=sha256({"sql": read.query.sql, "parameters": read.query.parameters}))

    def _start_of(self, bucket: Json, grain: Grain, at: datetime) -> datetime:
        if bucket is None:
            return buckets.bucket_start(buckets.to_local(at, self._registry.zone), grain)
        return buckets.from_text(str(bucket), grain)


def _to_json(value: MetricValue) -> Json:
    return clean(
        {
            "bucket": value.bucket,
            "dimensions": value.dimensions,
            "value": value.value,
            "n": value.n,
            "state": value.state.value,
            "complete": value.complete,
        }
    )


def _mapping(value: Json) -> Mapping[str, Json]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise InvalidArguments("`where` is an object of dimension and value.", where=value)


def _names(value: Json) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _count(value: Json) -> int:
    if value is None:
        return 1
    if isinstance(value, int) and value >= 1:
        return value
    raise InvalidArguments("`last` is how many periods are read, 1 or more.", last=value)
