"""From where somebody asks, for the record."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _via(request: Request) -> str:
    """Return the way and the address, and how it was proven who asks: by a session in a browser or by a token."""
    address, principal = _address(request), getattr(request.state, "principal", None)
    way = "console" if principal is not None and principal.id.startswith("session/") else "api"
    return f"{way} from {address}" if address else way


Address = Annotated[str, Depends(_address)]
Via = Annotated[str, Depends(_via)]
"""From where somebody asks, for the record."""
