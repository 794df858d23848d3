"""What came back from an address: JSON, text, or a file."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any

from contracts import Json
from runtime.canonical import sha256
from runtime.capabilities.new_files import describe, name_in
from runtime.capabilities.port import NewFile

_TEXT = re.compile(
    r"^text/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|csv|x-ndjson|toml|graphql|sql|problem\+json)$"
)
_CHARSET = re.compile(r"""charset\s*=\s*"?([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def answer_of(url: str, status: int, headers: Mapping[str, str], body: bytes) -> tuple[dict[str, Any], list[NewFile]]:
    """Return the output, and the body as a file where it is no text."""
    said = headers.get("Content-Type", "")
    media = said.partition(";")[0].strip().lower()
    text = _text(media, said, body)
    files = [NewFile(name_in(url, "answer"), media or "application/octet-stream", body)] if text is None else []
    value = _json(media, text)
    output: dict[str, Any] = {
        "url": url, "status": status, "media_type": media, "size": len(body), "sha256": sha256(body),
        "json": value, "text": text if value is None else None, "files": [describe(file) for file in files],
    }  # fmt: skip
    return output, files


def _text(media: str, said: str, body: bytes) -> str | None:
    """Return the body as text, None where it is none; signs that cannot be read are replaced, never refused."""
    if not body:
        return ""
    bom = next((encoding for mark, encoding in _BOMS if body.startswith(mark)), None)
    if not media or media == "application/octet-stream":
        return _sure_text(body, bom)
    if not _TEXT.search(media):
        return None
    return body.decode(bom or _charset(said), errors="replace")


def _charset(said: str) -> str:
    named = _CHARSET.search(said)
    try:
        return codecs.lookup(named[1]).name if named else "utf-8"
    except LookupError:
        return "utf-8"


def _sure_text(body: bytes, bom: str | None) -> str | None:
    try:
        text = body.decode(bom or "utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _json(media: str, text: str | None) -> Json:
    if text is None or (media and not media.endswith(("/json", "+json"))):
        return None
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
