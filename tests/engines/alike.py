"""Events as both engines must give them: without ids, times, names of nodes and the order between branches."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from difflib import unified_diff
from typing import Any

from contracts import Event, TaskOrder

_ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_HASH = re.compile(r"\b([0-9a-f]{64}|[0-9a-f]{32})\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_NUMBER = re.compile(r"\b(waiver|notice|incident)-\d+\b")
"""That the example's service gives to what it is asked, one after the other."""
_PORT = re.compile(r"(?<=http://127\.0\.0\.1:)\d+")
"""Of an endpoint, of which each engine has one of its own."""
_VARIES = frozenset({"seconds", "holder", "home", "node", "node_id", "fence", "elapsed_s", "waited_s", "instance"})
_SHARES = frozenset({"budget", "granted"})
_LEFT_OUT = (
    (frozenset({"key", "version"}), {"version"}),
    (frozenset({"key", "found", "conflicts"}), {"employee", "step"}),
    (frozenset({"key", "rule"}), {"unseen"}),
    (frozenset({"node_id", "slot_id"}), {"labels"}),
)
"""Fields of a write to the board, of a read, and of an entry, that say in which order branches wrote; of an allocation,
what is the node's.
"""


def plain(events: Iterable[Event], *, shares: bool = True) -> dict[str, list[Any]]:
    """Return what each stream holds, by the employee and place of its order; streams that are alike share an entry.

    Within a stream the events of one step keep their order, those of different steps none; nor do those of the board,
    whose writers may be branches. Without `shares`, what orders were granted is left out: of branches that begin while
    others end, each gets a part of what is free just then.
    """
    streams: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        streams[event.subject].append(event)
    found: dict[str, list[Any]] = defaultdict(list)
    for subject, told in streams.items():
        steps = _by_step(told)
        if subject.startswith("blackboard/"):
            steps = {step: sorted(each, key=json.dumps) for step, each in steps.items()}
        found[_name(subject, told)].append(steps if shares else _without_shares(steps))
    return {name: sorted(each, key=json.dumps) for name, each in sorted(found.items())}


def _without_shares(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: None if name in _SHARES else _without_shares(each) for name, each in value.items()}
    return [_without_shares(each) for each in value] if isinstance(value, list) else value


def _name(subject: str, events: list[Event]) -> str:
    for event in events:
        if event.type == "order.accepted" and event.data:
            order = TaskOrder.read(event.data["order"])
            above = [each.step for each in order.chain]
            return f"order of {order.employee}: {order.path or '/'.join(above) or 'root'}"
    return subject.partition("/")[0]


def _by_step(events: list[Event]) -> dict[str, list[Any]]:
    steps: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        data = event.data or {}
        steps[f"{data.get('step', '')}[{data.get('index')}]"].append([event.type, event.source, _value(event.data)])
    return dict(sorted(steps.items()))


def _value(value: Any) -> Any:
    """Return a value without what two runs of the same may differ in."""
    if isinstance(value, dict):
        for fields, order in _LEFT_OUT:
            if fields <= value.keys():
                value = {name: each for name, each in value.items() if name not in order}
        return {text_alike(name): None if name in _VARIES else _value(each) for name, each in sorted(value.items())}
    if isinstance(value, list):
        return [_value(each) for each in value]
    return text_alike(value) if isinstance(value, str) else value


def text_alike(text: str) -> str:
    """Return a text without ids, hashes, times, ports and numbers that follow the order of calls."""
    text = _PORT.sub("<port>", text)
    return _NUMBER.sub(r"\1-<number>", _TIME.sub("<time>", _HASH.sub("<hash>", _ID.sub("<id>", text))))


def differences(one: Iterable[Event], other: Iterable[Event], *, shares: bool = True) -> list[str]:
    """Return the lines in which two runs differ, for a person to read."""
    texts = [json.dumps(plain(each, shares=shares), indent=1, ensure_ascii=False).splitlines() for each in (one, other)]
    return [line for line in unified_diff(*texts, lineterm="", n=2) if not line.startswith(("---", "+++"))]
