"""Which blobs an event names: the addresses in its payload that stand for bytes in the blob store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_RESULT = ("output_sha256", "given_sha256", "artifacts.sha256")
NAMED: Mapping[str, tuple[str, ...]] = {
    "execution.requested": ("organisation_sha256",),
    "execution.finished": ("report.artifacts.sha256",),
    "order.finished": ("report.artifacts.sha256",),
    "conversation.turn": ("attachments.sha256",),
    "product.made": ("product.artifacts.sha256",),
    "files.changed": ("files.sha256",),
    "workspace.changed": ("files.sha256", "manifest_sha256"),
    "model.answered": ("answer_sha256",),
    "call.finished": _RESULT,
    "call.intended": ("stored_sha256",),
    "effect.intended": ("stored_sha256",),
    "step.dispatched": ("order_sha256",),
    "step.finished": _RESULT,
    "step.waiting": tuple(f"held.{path}" for path in _RESULT),
    "step.failed": ("given_sha256", *(f"result.{path}" for path in _RESULT)),
}
"""Type of event → where its payload holds addresses; a list on the way stands for each of its items.

Other hashes in payloads prove something and address nothing, and what a step gave may hold anything under any name.
"""


def named_by(event_type: str, data: Any) -> Iterator[str]:
    """Yield the address of each blob that an event with this payload names."""
    for path in NAMED.get(event_type, ()):
        yield from (found for found in _at(data, path.split(".")) if isinstance(found, str))


def _at(value: Any, keys: list[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _at(item, keys)
    elif not keys:
        yield value
    elif isinstance(value, Mapping) and keys[0] in value:
        yield from _at(value[keys[0]], keys[1:])
