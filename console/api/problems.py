"""Errors as RFC 9457 problems: one form for every refusal, whatever refused."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from cluster.errors import QueueFull
from console.api.errors import LoginRefused, NotReady, TooManyLogins
from console.api.model import FieldFault, ProblemDetails
from console.errors import Pruned, UnknownId
from contracts import Json
from memory.files.errors import FilesBusy, FilesKeepWords
from memory.knowledge.errors import KnowledgeBusy, NotAMemory
from memory.records.errors import MemoryPast
from runtime.canonical import clean
from runtime.errors import (
    BudgetExceeded,
    BusinessRefusal,
    CapabilityTimeout,
    ExecutionBusy,
    InvalidArguments,
    LedgerUnavailable,
    ModelRequired,
    NetworkFault,
    NotFound,
    OrganisationFaulty,
    PermissionRefused,
    SchemaMismatch,
    SiliconError,
    StaleWriter,
    VersionConflict,
)
from runtime.executor import ExecutionImported, IllegalTransition, KeyInUse
from runtime.plain_words import in_plain_words

MEDIA_TYPE = "application/problem+json"
RETRY_S = 5
"""After which a request may be tried again that failed because something is away for a while."""

_STATUS: Mapping[type[SiliconError], int] = {
    Pruned: 410,
    UnknownId: 404,
    NotFound: 404,
    OrganisationFaulty: 409,
    VersionConflict: 409,
    StaleWriter: 409,
    ExecutionBusy: 409,
    ExecutionImported: 409,
    IllegalTransition: 409,
    KeyInUse: 422,
    BusinessRefusal: 409,
    MemoryPast: 409,
    FilesBusy: 409,
    FilesKeepWords: 409,
    NotAMemory: 409,
    KnowledgeBusy: 409,
    PermissionRefused: 403,
    InvalidArguments: 422,
    ModelRequired: 409,
    BudgetExceeded: 409,
    NetworkFault: 502,
    QueueFull: 429,
    CapabilityTimeout: 504,
    NotReady: 503,
    LoginRefused: 401,
    TooManyLogins: 429,
    LedgerUnavailable: 503,
    SchemaMismatch: 503,
}
"""The status of each class of errors; a class that is not here has its nearest parent's, and 500 without one."""

_OF_HTTP = {404: "NO_SUCH_PATH", 405: "METHOD_NOT_ALLOWED"}
_log = logging.getLogger(__name__)


def problem(
    status: int,
    code: str,
    title: str,
    detail: str,
    *,
    facts: Mapping[str, Json] | None = None,
    errors: Sequence[FieldFault] = (),
    retry_s: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the response that tells a problem; `retry_s` says when it may be tried again."""
    details = ProblemDetails(
        type=f"urn:silicon-org:problem:{code.lower().replace('_', '-')}",
        title=title,
        status=status,
        detail=detail,
        code=code,
        facts=dict(facts or {}),
        errors=tuple(errors),
    )
    told = dict(headers or {})
    if retry_s is not None:
        told["Retry-After"] = str(max(1, math.ceil(retry_s)))
    content = clean(details.model_dump(mode="json", exclude_defaults=True))
    return JSONResponse(content, status, told, media_type=MEDIA_TYPE)


def problem_of(error: SiliconError) -> JSONResponse:
    """Return the response that tells one of our errors."""
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    title = (type(error).__doc__ or error.code).strip().splitlines()[0].rstrip(".")
    asked = error.facts.get("retry_after_s")
    retry_s = float(asked) if isinstance(asked, int | float) else RETRY_S if status == 503 else None
    if status == 500:
        _log.error("a request failed: %s", error.message, extra={"code": error.code}, exc_info=error)
    return problem(status, error.code, title, error.message, facts=error.facts, retry_s=retry_s)


def unexpected() -> JSONResponse:
    """Return the response to an error that nobody foresaw: the log has its traceback, the client a number to name."""
    return problem(
        500,
        "UNEXPECTED",
        "Something unexpected happened",
        "Something unexpected happened; the server's log has it under the X-Request-Id of this response.",
    )


def tell_problems(api: FastAPI) -> None:
    """Let every error that a route raises become a problem."""

    @api.exception_handler(SiliconError)
    async def _ours(_: Request, error: SiliconError) -> JSONResponse:
        return problem_of(error)

    @api.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = [_fault(each) for each in error.errors()]
        detail = "\n".join(f"{fault.at}: {fault.detail}" for fault in faults)
        return problem(422, "INVALID_REQUEST", "The request does not fit what is described", detail, errors=faults)

    @api.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        code = _OF_HTTP.get(error.status_code, "HTTP_ERROR")
        detail = f"{request.method} {request.url.path}: {error.detail}. /api/v1/openapi.json lists what there is."
        return problem(error.status_code, code, str(error.detail), detail, headers=error.headers)


def _fault(error: Mapping[str, Any]) -> FieldFault:
    """Return one fault of a request: where, as a JSON pointer for the body, and what, without the value itself."""
    place, *path = [str(part) for part in error["loc"]]
    pointer = "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
    at = f"body{pointer}" if place == "body" else f"{place} {'.'.join(path)}".strip()
    return FieldFault(at=at, detail=in_plain_words(error))
