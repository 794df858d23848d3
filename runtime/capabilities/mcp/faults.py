"""What the errors of the SDK mean: bounded, because another side wrote them, and with a category."""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from runtime.canonical import clean
from runtime.errors import BusinessRefusal, CapabilityFailed, InvalidArguments, NetworkFault

_SHOWN = 300
_CUT = ("Connection closed", "SSE stream ended", "SSE stream failed")
"""How the SDK begins its own errors of this code; servers use the code for errors of theirs."""


def is_cut(error: MCPError) -> bool:
    """Whether the SDK says that the answer was lost with its connection."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(_CUT)


def refusal(name: str, error: MCPError) -> CapabilityFailed:
    """Return what a JSON-RPC error of the server means. Some say that the call was not even begun."""
    told = f"The MCP server of connection {name} said: {bounded(error)}"
    code = error.code
    if code == INVALID_PARAMS:
        return InvalidArguments(told, connection=name, rpc_code=code, happened="no")
    if code == METHOD_NOT_FOUND:
        return CapabilityFailed(told, connection=name, rpc_code=code, happened="no")
    if code == HEADER_MISMATCH:  # the tool is listed otherwise by now: trying again lists it anew
        return NetworkFault(told, connection=name, rpc_code=code, happened="no")
    if code == INTERNAL_ERROR:
        return NetworkFault(told, connection=name, rpc_code=code)
    return BusinessRefusal(told, connection=name, rpc_code=code)


def faults_in(error: BaseException) -> list[CapabilityFailed]:
    """Return our own errors among those that ended a group of tasks."""
    if isinstance(error, BaseExceptionGroup):
        return [fault for each in error.exceptions for fault in faults_in(each)]
    return [error] if isinstance(error, CapabilityFailed) else []


def innermost(error: BaseException) -> BaseException:
    """Return the first error that ended a group of tasks."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def bounded(error: BaseException) -> str:
    """Return what an error says in one line that is not long."""
    text = " ".join(str(clean(str(error)[: 4 * _SHOWN])).split())
    return text[:_SHOWN] or type(error).__name__
