"""The evidence of orders: what was done and seen, each item with its bytes where they were kept."""

from __future__ import annotations

import unicodedata
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Response

from console.api.desk import Asking, AtDesk, query_of
from console.api.shown_evidence import EvidenceShown
from contracts import OrderId
from contracts.ids import ULID_PATTERN

routes = APIRouter(prefix="/orders", tags=["evidence"])
Ulid = Annotated[
    str,
    Path(
        alias="order",
        pattern=ULID_PATTERN,
        description="The order: the part of its id after the slash.",
        examples=["01JB0000000000000000000ORD"],
    ),
]
Number = Annotated[int, Path(alias="item", ge=1, le=1_000_000, description="Number of the item in the evidence.")]


@routes.get("/{order}/evidence", dependencies=[query_of()])
async def evidence(ulid: Ulid, desk: AtDesk, asking: Asking) -> EvidenceShown:
    """Show everything that an order did and saw, hashed again for this answer, with whatever does not fit."""
    order_id = OrderId(f"{OrderId.KIND}/{ulid}")
    await desk.seen(await desk.application.execution_of(order_id), asking)
    async with desk.reading_much:
        return EvidenceShown.of(await desk.application.evidence(order_id))


@routes.get(
    "/{order}/evidence/{item}",
    dependencies=[query_of()],
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The exact bytes of the item."}},
)
async def item(ulid: Ulid, number: Number, desk: AtDesk, asking: Asking) -> Response:
    """Give the bytes of one item as a file; they come from the store, by the hash that the evidence names."""
    order_id = OrderId(f"{OrderId.KIND}/{ulid}")
    await desk.seen(await desk.application.execution_of(order_id), asking)
    async with desk.reading_much:
        shown = await desk.application.evidence_item(order_id, number)
    headers = {
        "Content-Disposition": disposition(shown.name),
        "Content-Security-Policy": "sandbox; default-src 'none'",  # a page that was kept must not act in ours
        "Cache-Control": "private, no-store",
    }
    return Response(shown.data, media_type=_media_type(shown.media_type), headers=headers)


def disposition(name: str) -> str:
    """Return the header that saves the bytes under this name (RFC 6266), whatever letters it holds."""
    plain = "".join(letter if letter.isprintable() and letter not in '/\\"' else "_" for letter in name) or "item"
    latin = unicodedata.normalize("NFKD", plain).encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{latin}\"; filename*=UTF-8''{quote(plain, safe='')}"


def _media_type(told: str) -> str:
    """Return the type with its letters, where it is text; one that no header can hold is told as bytes."""
    usable = told.isascii() and told.isprintable() and told.count("/") == 1
    return told if usable else "application/octet-stream"
