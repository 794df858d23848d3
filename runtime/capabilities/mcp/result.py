"""What a tool of an MCP server gave: fields, text, files; or the error that it reports."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contracts import Json
from runtime.canonical import clean
from runtime.capabilities.new_files import describe, name_in
from runtime.capabilities.port import NewFile
from runtime.errors import BusinessRefusal, CapabilityFailed

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_SHOWN = 300


def fault_in(call: str, answer: CallToolResult, *, atomic: bool) -> CapabilityFailed | None:
    """Return the error that the tool itself reports, None where it reports none.

    It says nothing about what was done before it, unless the tool is declared to do all or nothing.
    """
    if not answer.is_error:
        return None
    said = " ".join(_text_of(answer.content).split())[:_SHOWN] or "nothing"
    facts: dict[str, Json] = {"happened": "no"} if atomic else {}
    return BusinessRefusal(f"{call} reports that it failed: {clean(said)}", call=call, **facts)


def files_of(call: str, answer: CallToolResult) -> list[NewFile]:
    """Return pictures, sounds and resources as files, in their order."""
    files: list[NewFile] = []
    for block in answer.content:
        file = _file(call, block, len(files) + 1)
        if file is not None:
            files.append(file)
    return files


def output_of(call: str, answer: CallToolResult, files: Sequence[NewFile], gives: Mapping[str, Json]) -> dict[str, Any]:
    """Return the output: the fields that are declared, or else the text; beside them the files and links, if any.

    Fields come from the structured content, or from the text where it is a JSON object.
    """
    output: dict[str, Any] = _fields(call, answer) if gives else {"text": _text_of(answer.content)}
    if files:
        output.setdefault("files", [describe(file) for file in files])
    links = [
        {"uri": str(block.uri), "name": block.name, "media_type": block.mime_type}
        for block in answer.content
        if block.type == "resource_link"
    ]
    if links:
        output.setdefault("links", links)
    return output


def _fields(call: str, answer: CallToolResult) -> dict[str, Any]:
    structured = answer.structured_content
    if structured is None:
        try:
            structured = json.loads(_text_of(answer.content))
        except (ValueError, RecursionError):
            structured = None
    if isinstance(structured, dict):
        return dict(structured)
    raise BusinessRefusal(
        f"{call} gave no object, although `gives` declares fields: {clean(_text_of(answer.content)[:_SHOWN])!r}. "
        "Leave `gives` out to get its text.",
        call=call,
    )


def _text_of(content: Sequence[Any]) -> str:
    return "\n".join(block.text for block in content if block.type == "text")


def _file(call: str, block: Any, number: int) -> NewFile | None:
    tool = call.rpartition(".")[2]
    match block.type:
        case "image" | "audio":
            data = _decoded(call, block.data)
            extension = mimetypes.guess_extension(block.mime_type) or ".bin"
            return NewFile(f"{tool}-{number}{extension}", block.mime_type, data)
        case "resource":
            inner = block.resource
            text = getattr(inner, "text", None)
            data = text.encode("utf-8", "replace") if text is not None else _decoded(call, inner.blob)
            kind = inner.mime_type or ("text/plain" if text is not None else "application/octet-stream")
            return NewFile(f"{number}-{name_in(str(inner.uri), 'resource')}", kind, data)
    return None


def _decoded(call: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BusinessRefusal(f"{call} sent a file that is not base64.", call=call) from None
