"""Which node gets an order whose capabilities are carried out by bridges, told in labels as any other want is.

A node of a bridge bears `carries:NAME` for each capability that it carries out, `serves:ORGANISATION` for whom it may
work, and `asks-first` when it asks for each effect and reports a receipt. No other node bears such labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts import Effect
from runtime.capabilities.port import CapabilitySpec

BRIDGED = "bridge_tool"
"""Kind of the capabilities that bridges carry out."""
ASKS_FIRST = "asks-first"
_CARRIES = "carries:"


def carries(capability: str) -> str:
    """Return the label of a node whose bridge carries out the capability."""
    return f"{_CARRIES}{capability}"


def carried_by(labels: Iterable[str]) -> frozenset[str]:
    """Return the capabilities that a node with these labels carries out, or an order with them wants carried out."""
    return frozenset(label.removeprefix(_CARRIES) for label in labels if label.startswith(_CARRIES))


def torn_between(used: Iterable[CapabilitySpec]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return what of it needs a sandbox and what bridges carry out, by name, where it is some of both.

    One order has one slot: that of a bridge has no sandbox, and no other node carries out what a bridge does. So no
    node can take an order that calls both.
    """
    used = tuple(used)
    inside = tuple(dict.fromkeys(spec.name for spec in used if spec.sandboxed))
    outside = tuple(dict.fromkeys(spec.name for spec in used if spec.kind == BRIDGED))
    return (inside, outside) if inside and outside else None


def serves(organisation: str) -> str:
    """Return the label of a node whose bridge may work for the organisation."""
    return f"serves:{organisation}"


def labels_for(organisation: str, used: Sequence[CapabilitySpec], effects: Iterable[Effect] = ()) -> tuple[str, ...]:
    """Return the labels a node must have to carry out everything that is used.

    An order for a bridge goes only to one that may work for the organisation, and, unless every effect is `read`, only
    to one that asks first.

    Args:
        effects: what the plan's steps say beyond the declarations.
    """
    wanted = dict.fromkeys(label for spec in used for label in spec.labels)
    if any(spec.kind == BRIDGED for spec in used):
        wanted[serves(organisation)] = None
        if any(effect is not Effect.READ for effect in (*(spec.effect for spec in used), *effects)):
            wanted[ASKS_FIRST] = None
    return tuple(wanted)
