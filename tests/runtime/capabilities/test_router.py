from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from contracts import Effect, Json, Parameter, ValueType
from runtime.canonical import sha256
from runtime.capabilities.port import CallContext, CallResult, CallSeen, CapabilitySpec, Waiting
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router, output_fault
from runtime.errors import BusinessRefusal, CapabilityFailed, CapabilityTimeout, InvalidArguments, NotFound
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


class Query:
    """A capability with declared parameters and output."""

    spec = CapabilitySpec(
        name="flights.query",
        kind="sql",
        description="Reads.",
        effect=Effect.READ,
        parameters={
            "sql": Parameter(type=ValueType.STRING),
            "limit": Parameter(type=ValueType.INTEGER, default=10),
            "day": Parameter(type=ValueType.DATE, required=False),
        },
        gives={"rows": "array", "mean": "number"},
        resources=("sql",),
    )

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.got: Mapping[str, Json] = {}

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        self.got = arguments
        if isinstance(self._answer, Exception):
            raise self._answer
        if self._answer == "hang":
            await asyncio.Event().wait()
        return self._answer  # type: ignore[no-any-return]


async def call(answer: Any, arguments: Mapping[str, Json] | None = None, **more: Any) -> Any:
    tool, clock = Query(answer), HandClock()
    router = Router(Registry([tool]))
    context = CallContext(order=an_order(), step="do", key="k", attempt=1, now=clock.now())
    result = await router.call(
        "flights.query",
        {"sql": "select 1"} if arguments is None else arguments,
        context,
        timeout_s=more.get("timeout_s"),
    )
    return tool, result


async def test_every_fault_of_the_arguments_is_told_at_once() -> None:
    with pytest.raises(InvalidArguments) as refused:
        await call(CallResult({}), {"limit": "many", "dya": "2013-02-08"})

    for part in ("`sql` is missing", "`limit` must be a whole number", "Did you mean `day`?"):
        assert part in refused.value.message


async def test_defaults_are_filled_in() -> None:
    tool, _ = await call(CallResult({"rows": [], "mean": 1}))

    assert tool.got == {"sql": "select 1", "limit": 10}


async def test_a_null_is_never_taken_for_the_default() -> None:
    with pytest.raises(InvalidArguments, match="`limit` must be a whole number, not nothing"):
        await call(CallResult({"rows": [], "mean": 1}), {"sql": "select 1", "limit": None})


async def test_a_text_may_come_from_a_file_of_the_skill() -> None:
    tool, _ = await call(CallResult({"rows": [], "mean": 1}), {"sql": {"file": "q.sql", "text": "select 1"}})

    assert tool.got["sql"] == {"file": "q.sql", "text": "select 1"}


async def test_the_output_is_cleaned_and_a_missing_value_is_null() -> None:
    _, result = await call(CallResult({"rows": ({"t": "a\0"},), "mean": float("nan")}))

    assert result.output == {"rows": [{"t": "a␀"}], "mean": None}


async def test_an_output_without_a_declared_field_is_refused() -> None:
    with pytest.raises(CapabilityFailed, match="`mean` is missing"):
        await call(CallResult({"rows": []}))


async def test_what_was_seen_of_a_call_is_told() -> None:
    output = {"rows": [1, 2], "mean": 1.5}
    _, result = await call(CallResult(output, query_sha256="a" * 64))

    assert result.seen == CallSeen(sha256({"sql": "select 1", "limit": 10}), {"row_count": 2})
    assert (result.query_sha256, result.evidence) == ("a" * 64, ())


async def test_a_call_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(CapabilityTimeout, match=r"longer than 0.01 s"):
        await call("hang", timeout_s=0.01)


async def test_an_exception_it_should_not_raise_becomes_a_failure_of_unknown_category() -> None:
    with pytest.raises(CapabilityFailed, match=r"flights\.query failed: ZeroDivisionError: /") as failed:
        await call(ZeroDivisionError("/"))

    assert failed.value.problem().category == "unknown"


async def test_a_time_out_inside_a_capability_is_not_taken_for_the_limit() -> None:
    with pytest.raises(CapabilityFailed, match="TimeoutError") as failed:
        await call(TimeoutError("socket"))

    assert not isinstance(failed.value, CapabilityTimeout)


async def test_failures_of_the_business_pass_as_they_are() -> None:
    with pytest.raises(BusinessRefusal, match="closed"):
        await call(BusinessRefusal("closed"))


async def test_waiting_passes_as_it_is() -> None:
    _, result = await call(Waiting(()))

    assert isinstance(result, Waiting)


async def test_an_unknown_capability_is_named_with_its_nearest() -> None:
    router = Router(Registry([Query(None)]))

    with pytest.raises(NotFound, match=r"Did you mean flights\.query"):
        router.spec("flight.query")


@pytest.mark.parametrize(
    ("gives", "output", "fits"),
    [
        ({}, {"x": 1}, True),
        ({"n": "number"}, {"n": None}, True),
        ({"n": "number"}, {}, False),
        ({"n": "number"}, {"n": "1"}, False),
        ({"n": {"type": "number", "maximum": 5}}, {"n": 6}, False),
        ({"n": {"type": "number"}}, {"n": None}, False),
    ],
)
def test_declared_outputs(gives: dict[str, Json], output: dict[str, Json], fits: bool) -> None:
    assert (output_fault(gives, output) is None) is fits
