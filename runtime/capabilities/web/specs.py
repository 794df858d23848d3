"""Declarations of `http.get` and `http.send`; nothing is imported that sends anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from contracts import Effect, Money, Parameter, ValueType
from runtime.capabilities.connections import HostsConnection
from runtime.capabilities.port import CapabilitySpec

_URL = Parameter(
    type=ValueType.STRING,
    description="Whole address, on a host that the organisation lists.",
    example="https://api.example.org/rates?day=2013-02-08",
)
_QUERY = Parameter(
    type=ValueType.OBJECT,
    description="What is added to the query of the address, by name; a list is repeated.",
    example={"day": "2013-02-08"},
    required=False,
)
_GIVES = {
    "url": "string", "status": "integer", "media_type": "string", "size": "integer", "sha256": "string",
    "json": "any", "text": "string", "files": "array",
}  # fmt: skip

GET = CapabilitySpec(
    name="http.get",
    kind="builtin_tool",
    description="Read from an address on a host that the organisation lists. What is no text becomes a file.",
    parameters={
        "url": _URL,
        "query": _QUERY,
        "method": Parameter(
            type=ValueType.STRING, description="HEAD asks only what there is.", default="GET", choices=("GET", "HEAD")
        ),
        "accept": Parameter(
            type=ValueType.STRING, description="Media types to ask for.", example="text/csv", default="*/*"
        ),
    },
    gives=_GIVES,
)
SEND = CapabilitySpec(
    name="http.send",
    kind="builtin_tool",
    description="Send something to an address on a host that the organisation lists; it changes what is there.",
    parameters={
        "url": _URL,
        "query": _QUERY,
        "method": Parameter(
            type=ValueType.STRING,
            description="What is done at the address.",
            default="POST",
            choices=("POST", "PUT", "PATCH", "DELETE"),
        ),
        "body": Parameter(type=ValueType.ANY, description="Sent as JSON; absent, nothing is.", required=False),
        "text": Parameter(type=ValueType.STRING, description="Sent as text, in the place of `body`.", required=False),
        "media_type": Parameter(
            type=ValueType.STRING, description="Of `text`.", example="text/csv", default="text/plain; charset=utf-8"
        ),
    },
    gives=_GIVES,
    effect=Effect.WRITE,
)


def web_specs(connections: Iterable[object]) -> list[CapabilitySpec]:
    """Return both, with the most that one call costs by what the lists of hosts say; nothing where there is no list."""
    lists = [each for each in connections if isinstance(each, HostsConnection)]
    costs = _costs(lists)
    return [replace(spec, costs=costs) for spec in (GET, SEND)]


def _costs(lists: Iterable[HostsConnection]) -> tuple[Money, ...] | None:
    """Return the dearest price of each currency; None where one list says none, so that nobody knows."""
    most: dict[str, Money] = {}
    for each in lists:
        if each.price is None:
            return None
        known = most.get(each.price.currency)
        if each.price.amount and (known is None or known.amount < each.price.amount):
            most[each.price.currency] = each.price
    return tuple(most.values())
