"""Completes the OpenAPI description: the token, what each route refuses, and what a stream of events looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from console.api.cookies import NAME
from console.api.login import PATH
from console.api.model import FieldFault, ProblemDetails
from console.api.problems import MEDIA_TYPE

ABOUT = """\
Hand goals to organisations and follow what happens. What is asked for is recorded when the answer comes; the executor
carries it out, apart from any connection.

Every request but those for health, `/metrics` and the login needs `Authorization: Bearer silicon_…`, which
`silicon tokens create` makes, or the cookie that a login gives. Every error is a problem (RFC
9457) whose `code` is stable."""

_REFUSALS: Mapping[int, str] = {
    400: "The body is not JSON, or nested too deeply.",
    401: "No token or session, or one that does not count.",
    403: "Whoever asks may not do this.",
    404: "There is nothing of that name, or it may not be seen.",
    405: "The path has other methods only.",
    409: "It does not fit how things stand, for example a question that was answered already.",
    410: "It was pruned: it had ended longer ago than executions are kept here.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request does not fit what is described, or names what is not there.",
    429: "Too many requests; `Retry-After` says when to come again.",
    500: "Something unexpected; the server's log has it under the `X-Request-Id` of the response.",
    503: "The ledger is away, or the server is stopping; try again.",
}
_ALWAYS = (401, 403, 422, 429, 500, 503)
_WITH_BODY = (400, 404, 409, 413, 415)
_STREAM = (
    'retry: 1000\nid: 41\n\nid: 42\ndata: {"type":"step.finished","position":42,…}\n\n'
    'event: end\nid: 57\ndata: {"state":"done"}\n\n'
)


def describe(api: FastAPI) -> None:
    """Let the application describe itself completely."""

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = _complete(
                get_openapi(title=api.title, version=api.version, description=ABOUT, routes=api.routes)
            )
        return api.openapi_schema

    api.openapi = openapi  # type: ignore[method-assign]


def _complete(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for model in (ProblemDetails, FieldFault):
        described = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        described.pop("$defs", None)
        schemas[model.__name__] = described
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": NAME},
    }
    components["responses"] = {f"Problem{status}": _problem(text) for status, text in _REFUSALS.items()}
    schema["security"] = [{"token": []}, {"session": []}]
    for path, operation in _operations(schema):
        _complete_operation(path, operation)
    return schema


def _complete_operation(path: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    if path.endswith(PATH):
        operation["security"] = []
    if "/api/" not in path:
        operation["security"] = []
        responses.pop("422", None)
        responses["503"] = {"$ref": "#/components/responses/Problem503"}
        return
    refused = {*_ALWAYS, *(_WITH_BODY if "requestBody" in operation else ()), *_named(path)}
    for status in sorted(refused):
        responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    for name, response in responses.items():
        if "text/event-stream" in response.get("content", {}) or (path.endswith("/events") and name == "200"):
            content = {"schema": {"type": "string"}, "example": _STREAM}
            responses[name] = {"description": "The events, as long as they come.", "content": {}}
            responses[name]["content"]["text/event-stream"] = content


def _named(path: str) -> tuple[int, ...]:
    """Return how a path refuses the id that stands in it."""
    return (404, 410) if "{execution}" in path else (404,) if "{" in path else ()


def _operations(schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            yield path, operation


def _problem(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
