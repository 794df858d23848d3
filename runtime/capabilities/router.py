"""The one way to call a capability: arguments checked, time bounded, output cleaned and checked, the call recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import structlog

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import clean, sha256
from runtime.capabilities.port import CallContext, CallResult, Capability, CapabilitySpec, LookUp, Waiting
from runtime.capabilities.registry import Registry
from runtime.clock import Clock
from runtime.errors import CapabilityFailed, CapabilityTimeout, InvalidArguments, SiliconError
from runtime.schema import fault_of, json_schema_of, json_schema_of_parameters
from runtime.settings.groups import EngineSettings

_log = structlog.get_logger(__name__)


class Router:
    """Calls the capabilities of one organisation."""

    def __init__(self, registry: Registry, *, clock: Clock, timeout_s: float = EngineSettings().step_timeout_s) -> None:
        self._registry = registry
        self._clock = clock
        self._timeout_s = timeout_s

    def spec(self, name: str) -> CapabilitySpec:
        """Return the declaration; raise NotFound when there is none."""
        return self._registry.get(name).spec

    async def call(
        self, name: str, arguments: Mapping[str, Json], context: CallContext, *, timeout_s: float | None
    ) -> CallResult | Waiting:
        """Call `name` and return what it gave, with a `call` item in the evidence, or that it waits for people.

        Args:
            timeout_s: seconds until it is stopped; None means what the capability declares, or else the router's.

        Raises:
            NotFound: there is no such capability.
            InvalidArguments: the arguments do not fit; every fault is named, and nothing happened.
            CapabilityTimeout: it took too long and was cancelled.
            CapabilityFailed: it could not do its work, or its output is not what it declares. Exceptions it should
                not have raised come out as this, category unknown, with the whole of it in the log.
        """
        capability = self._registry.get(name)
        given = _fitting(capability.spec, arguments)
        started = time.perf_counter()
        limit_s = timeout_s or capability.spec.timeout_s or self._timeout_s
        answer = await self._bounded(capability, given, context, limit_s)
        if isinstance(answer, Waiting):
            return answer
        return self._taken_in(capability.spec, given, answer, context, seconds=time.perf_counter() - started)

    async def lookup(self, name: str, arguments: Mapping[str, Json], context: CallContext) -> CallResult | None:
        """Return the result of the call with the context's key, or None when it did not happen.

        Raises:
            CapabilityFailed: it cannot be told now. Why says nothing about the effect.
        """
        try:
            return await self._looked_up(name, arguments, context)
        except CapabilityFailed as error:
            error.facts.pop("happened", None)
            raise

    async def _looked_up(self, name: str, arguments: Mapping[str, Json], context: CallContext) -> CallResult | None:
        capability = self._registry.get(name)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(capability.spec.timeout_s or self._timeout_s):
                found = await cast(LookUp, capability).lookup(context.key, context)
        except TimeoutError:
            raise CapabilityTimeout(f"{name} did not say in time whether the effect happened.", use=name) from None
        except SiliconError:
            raise
        except Exception as error:
            raise _stray(name, context, error) from error
        if found is None:
            return None
        given = _fitting(capability.spec, arguments)
        return self._taken_in(capability.spec, given, found, context, seconds=time.perf_counter() - started)

    async def _bounded(
        self, capability: Capability, arguments: dict[str, Json], context: CallContext, timeout_s: float
    ) -> CallResult | Waiting:
        name = capability.spec.name
        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                return await capability.call(arguments, context)
        except SiliconError:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                raise CapabilityTimeout(
                    f"{name} took longer than {timeout_s:g} s and was stopped. "
                    f"Give the step more time (timeout) or less to do.",
                    use=name, timeout_s=timeout_s,
                ) from None  # fmt: skip
            raise _stray(name, context, error) from error

    def _taken_in(
        self, spec: CapabilitySpec, arguments: Mapping[str, Json], result: CallResult, context: CallContext,
        *, seconds: float,
    ) -> CallResult:  # fmt: skip
        try:
            return self._checked(spec, arguments, result, context, seconds=seconds)
        except SiliconError:
            raise
        except Exception as error:  # what came back cannot even be looked at
            raise _stray(spec.name, context, error) from error

    def _checked(
        self, spec: CapabilitySpec, arguments: Mapping[str, Json], result: CallResult, context: CallContext,
        *, seconds: float,
    ) -> CallResult:  # fmt: skip
        raw: Any = result.output
        if not isinstance(raw, Mapping):
            raise CapabilityFailed(
                f"{spec.name} gave {type(raw).__name__} where an object was due; nothing of it was kept.",
                use=spec.name,
            )
        output = cast(dict[str, Json], clean(raw))
        fault = output_fault(spec.gives, output)
        if fault is not None:
            raise CapabilityFailed(f"The output of {spec.name} is not what it declares: {fault}", use=spec.name)
        result = replace(result, output=output)
        item = self._evidence(spec, arguments, result, context, seconds=seconds)
        return replace(result, evidence=(item, *result.evidence))

    def _evidence(
        self, spec: CapabilitySpec, arguments: Mapping[str, Json], result: CallResult, context: CallContext,
        *, seconds: float,
    ) -> EvidenceItem:  # fmt: skip
        digest = sha256(result.output)
        facts: dict[str, Json] = {
            "arguments_sha256": sha256(clean(arguments)),
            "result_sha256": digest,
            "seconds": round(seconds, 6),
        }
        rows = result.output.get("rows")
        optional: dict[str, Json] = {
            "row_count": len(rows) if isinstance(rows, list) else None,
            "query_sha256": result.query_sha256,
            "data_sha256": result.data_sha256,
        }
        facts.update({name: value for name, value in optional.items() if value is not None})
        return EvidenceItem(
            kind=EvidenceKind.CALL, at=self._clock.now(), step=context.step, capability=spec.name, sha256=digest,
            facts=facts,
        )  # fmt: skip


def _fitting(spec: CapabilitySpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments with defaults filled in; raise InvalidArguments with every fault."""
    schema = json_schema_of_parameters(spec.parameters, open_arguments=spec.open_arguments)
    for name in spec.resources:  # a text, the content of a file that the loader put in its place, or one per language
        if name in schema["properties"] and isinstance(arguments.get(name), dict):
            schema["properties"][name] = {"type": "object"}
    given = dict(arguments)
    fault = fault_of(given, schema)
    if fault is not None:
        raise InvalidArguments(f"The arguments do not fit {spec.name}: {fault}", use=spec.name, happened="no")
    for name, parameter in spec.parameters.items():
        if given.get(name) is None and parameter.default is not None:
            given[name] = parameter.default
    return given


def output_fault(gives: Mapping[str, Json], output: Mapping[str, Json]) -> str | None:
    """Return what does not fit the declared output, in plain words, or None.

    Every declared field must be there. Null means missing and fits each field that is declared by a type's name; a
    field declared by a JSON Schema says itself whether null fits.
    """
    if not gives:
        return None
    schema = json_schema_of(gives)
    for name, declared in gives.items():
        if isinstance(declared, str):
            schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}
    return fault_of(dict(output), schema)


def _stray(name: str, context: CallContext, error: Exception) -> CapabilityFailed:
    _log.error("capability failed in a way it should not", use=name, step=context.step, key=context.key, exc_info=error)
    return CapabilityFailed(
        f"{name} failed: {type(error).__name__}: {clean(str(error))}. The log holds the whole of it.",
        use=name,
        kind=type(error).__name__,
    )
