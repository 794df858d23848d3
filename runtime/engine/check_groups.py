"""Groups whose branches run at the same time: none may rely on what another does meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from contracts import OutputMode, Step
from runtime.engine.fault import Path, PlanFault

READ, WRITE = "blackboard.read", "blackboard.write"


def group_faults(group: Step, path: Path, merging: Collection[str]) -> Iterator[PlanFault]:
    """Yield keys of the blackboard that one branch writes and another one reads, or writes though they do not merge."""
    writers: dict[str, list[int]] = defaultdict(list)
    for number, branch in enumerate(group.parallel):
        for key in sorted(_keys(branch, WRITE)):
            writers[key].append(number)
    for number, branch in enumerate(group.parallel):
        place = (*path, "parallel", number)
        for key in sorted(_keys(branch, READ) & writers.keys()):
            writer = group.parallel[writers[key][0]].id
            yield PlanFault(
                place,
                f"`{branch.id}` reads `{key}` from the blackboard while `{writer}` writes it.",
                "Move the reading step behind the group.",
            )
        for key in sorted(_keys(branch, WRITE).difference(merging)):
            first = writers[key][0]
            if first < number:
                yield PlanFault(
                    place,
                    f"`{branch.id}` and `{group.parallel[first].id}` write `{key}` to the blackboard at the same time.",
                    "Give each branch a key of its own, or the key a merge rule under `blackboard` in org.yaml.",
                )


def _keys(step: Step, use: str) -> set[str]:
    keys = set()
    key = step.arguments.get("key")
    if step.use == use and isinstance(key, str) and "{{" not in key:
        keys.add(key)
    if use == WRITE and step.output is OutputMode.BLACKBOARD:
        keys.add(step.id)
    return keys.union(*(_keys(branch, use) for branch in step.parallel)) if step.parallel else keys
