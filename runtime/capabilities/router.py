"""The one way to call a capability: arguments checked, time bounded, output cleaned and checked, the call recorded."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, cast

from contracts import Json
from runtime.canonical import clean, copy_of, sha256
from runtime.capabilities.actions import ActionCheck, ActionRefused
from runtime.capabilities.port import (
    CallContext,
    CallResult,
    CallSeen,
    Capability,
    CapabilitySpec,
    Instanced,
    LookUp,
    Waiting,
)
from runtime.capabilities.registry import Registry
from runtime.errors import CapabilityFailed, CapabilityTimeout, InvalidArguments, SiliconError
from runtime.once import once_for_each
from runtime.schema import Shape, json_schema_of, json_schema_of_parameters
from runtime.settings.groups import EngineSettings

_log = logging.getLogger(__name__)


class Router:
    """Calls the capabilities of one organisation."""

    def __init__(
        self,
        registry: Registry,
        *,
        timeout_s: float = EngineSettings().step_timeout_s,
        check: ActionCheck | None = None,
    ) -> None:
        """Lead to these.

        Args:
            check: what must hold at every call.
        """
        self._registry = registry
        self._check = check
        self._timeout_s = timeout_s
        self._shapes: dict[tuple[str, ...], tuple[CapabilitySpec, Shape]] = {}

    def spec(self, name: str) -> CapabilitySpec:
        """Return the declaration; raise NotFound when there is none."""
        return self._registry.get(name).spec

    async def call(
        self, name: str, arguments: Mapping[str, Json], context: CallContext, *, timeout_s: float | None
    ) -> CallResult | Waiting:
        """Call `name` and return what it gave, with what was seen of the call, or that it waits for people.

        Args:
            timeout_s: seconds until it is stopped; None means what the capability declares, or else the router's.

        Raises:
            NotFound: there is no such capability.
            InvalidArguments: the arguments do not fit; every fault is named, and nothing happened.
            ActionRefused: a rule forbids it, and nothing happened.
            CapabilityTimeout: it took too long and was cancelled.
            CapabilityFailed: it could not do its work, or its output is not what it declares. Exceptions it should
                not have raised come out as this, category unknown, with the whole of it in the log.
        """
        capability = self._registry.get(name)
        given = self._fitting(capability.spec, arguments)
        if self._check is not None:
            _require_allowed(self._check, capability.spec, given, context)
        limit_s = timeout_s or capability.spec.timeout_s or self._timeout_s
        answer = await self._bounded(capability, given, context, limit_s)
        if isinstance(answer, Waiting):
            return answer
        return self._taken_in(capability.spec, given, answer, context)

    def instance(self, name: str) -> str | None:
        """Return which of several that bear this name is called from here, where that matters (`Instanced`)."""
        capability = self._registry.get(name)
        return capability.instance() if isinstance(capability, Instanced) else None

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
        given = self._fitting(capability.spec, arguments)
        return self._taken_in(capability.spec, given, found, context)

    async def _bounded(
        self, capability: Capability, arguments: dict[str, Json], context: CallContext, timeout_s: float
    ) -> CallResult | Waiting:
        name = capability.spec.name
        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                own = {key: copy_of(value) for key, value in arguments.items()}  # others read the same values
                return await capability.call(own, context)
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
        self, spec: CapabilitySpec, arguments: Mapping[str, Json], result: CallResult, context: CallContext
    ) -> CallResult:
        try:
            return self._checked(spec, arguments, result)
        except SiliconError:
            raise
        except Exception as error:  # what came back cannot even be looked at
            raise _stray(spec.name, context, error) from error

    def _checked(self, spec: CapabilitySpec, arguments: Mapping[str, Json], result: CallResult) -> CallResult:
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
        rows = output.get("rows")
        seen = CallSeen(sha256(clean(arguments)), {"row_count": len(rows)} if isinstance(rows, list) else {})
        return CallResult(
            output, result.evidence, result.files, result.events, result.appends, result.query_sha256,
            result.data_sha256, seen,
        )  # fmt: skip

    def _fitting(self, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Return the arguments with defaults filled in; raise InvalidArguments with every fault."""
        given = dict(arguments)
        return _filled_in(spec, given, self._shape(spec, given).fault_of(given) or _nested_fault(spec, given))

    def _shape(self, spec: CapabilitySpec, given: Mapping[str, Json]) -> Shape:
        files = _files_in(spec, given)
        key = (spec.name, *files)
        known = self._shapes.get(key)
        if known is not None and known[0] is spec:
            return known[1]
        shape = _shape_of(spec, files)
        self._shapes[key] = (spec, shape)
        return shape


def _require_allowed(
    check: ActionCheck, spec: CapabilitySpec, arguments: Mapping[str, Json], context: CallContext
) -> None:
    """Return where every rule lets the call pass; raise ActionRefused, with what was not made, where one does not."""
    refused = check.refusal(context.order, spec, arguments)
    if refused is not None:
        raise ActionRefused(refused, spec.name)


def arguments_fault(spec: CapabilitySpec, given: Mapping[str, Json]) -> str | None:
    """Return why a call with these arguments would be refused, in plain words, or None."""
    return _shape_of(spec, _files_in(spec, given)).fault_of(dict(given)) or _nested_fault(spec, given)


def fitting(spec: CapabilitySpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments with which a call will be made; raise InvalidArguments, as the call itself would."""
    given = dict(arguments)
    return _filled_in(spec, given, arguments_fault(spec, given))


def _filled_in(spec: CapabilitySpec, given: dict[str, Json], fault: str | None) -> dict[str, Json]:
    if fault is not None:
        raise InvalidArguments(f"The arguments do not fit {spec.name}: {fault}", use=spec.name, happened="no")
    for name, parameter in spec.parameters.items():
        if parameter.default is not None:
            given.setdefault(name, parameter.default)
    return given


def _files_in(spec: CapabilitySpec, given: Mapping[str, Json]) -> list[str]:
    return [name for name in spec.resources if name in spec.parameters and isinstance(given.get(name), dict)]


def _nested_fault(spec: CapabilitySpec, given: Mapping[str, Json]) -> str | None:
    """Return what does not fit inside the arguments, where their own schema tells it."""
    return None if spec.schema is None else _shape_of_schema(spec).fault_of(dict(given))


@once_for_each(1_024)
def _shape_of_schema(spec: CapabilitySpec) -> Shape:
    return Shape(spec.schema or {})


def _shape_of(spec: CapabilitySpec, files: Iterable[str]) -> Shape:
    schema = json_schema_of_parameters(spec.parameters, open_arguments=spec.open_arguments)
    for name in files:  # a text, the content of a file that the loader put in its place, or one per language
        schema["properties"][name] = {"type": "object"}
    return Shape(schema)


def output_fault(gives: Mapping[str, Json], output: Mapping[str, Json]) -> str | None:
    """Return what does not fit the declared output, in plain words, or None.

    Every declared field must be there. Null means missing and fits each field that is declared by a type's name; a
    field declared by a JSON Schema says itself whether null fits.
    """
    return _output_shape(json.dumps(dict(gives))).fault_of(dict(output)) if gives else None


@lru_cache(maxsize=1_024)
def _output_shape(gives: str) -> Shape:
    fields: dict[str, Json] = json.loads(gives)
    schema = json_schema_of(fields)
    for name, declared in fields.items():
        if isinstance(declared, str):
            schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}
    return Shape(schema)


def _stray(name: str, context: CallContext, error: Exception) -> CapabilityFailed:
    facts = {"use": name, "step": context.step, "key": context.key}
    _log.error("capability failed in a way it should not", extra=facts, exc_info=error)
    return CapabilityFailed(
        f"{name} failed: {type(error).__name__}: {clean(str(error))}. The log holds the whole of it.",
        use=name,
        kind=type(error).__name__,
    )
