"""Which messages of a conversation stay and which may go: a call and its results are never separated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime.context.prompt import Said


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages that stay or go together: an answer with all results of its calls, or one message alone."""

    start: int
    """Number of its first message in the conversation, from 0."""
    stop: int
    """The one behind its last. An answer that lacks a result reaches to the end of the conversation."""
    pinned: bool
    """Whether it never goes."""
    open: bool = False
    """Whether a result is still missing; until it came, it does not go."""

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a conversation may be cut."""

    until: int
    """Of the messages before it those go that are not pinned (`gone`)."""
    go: tuple[int, ...]
    """Numbers of the messages that go now; none where there is nothing to gain."""
    stay: tuple[int, ...]
    """Numbers of the messages that stay, without the pinned ones."""


def exchanges(said: Sequence[Said]) -> tuple[Exchange, ...]:
    """Return the conversation in pieces that must not be torn, in its order; together they are the whole of it.

    The system prompt and every message with a pinned part are pinned; so is the first message of a user, which is the
    task, whether somebody pinned it or not.

    Raises:
        ValueError: a result is about no call before it.
    """
    pinned, reach, waiting = _pinned(said), _reach(said), _waiting(said)
    found: list[Exchange] = []
    at = 0
    while at < len(said):
        start, stop, each = at, at + 1, at
        while each < stop:  # calls of an answer inside may reach further
            stop = max(stop, reach[each] + 1)
            each += 1
        span = range(start, stop)
        found.append(Exchange(start, stop, not pinned.isdisjoint(span), not waiting.isdisjoint(span)))
        at = stop
    return tuple(found)


def cut(said: Sequence[Said], *, keep: int, least: int, go_least: int, since: int = 0) -> Cut:
    """Return the cut that leaves the newest exchanges, as many as have at most `keep` messages together.

    Args:
        keep: messages that stay; see `runtime.context.memory.messages_kept`.
        least: messages that stay in any case: exchanges are added to reach it, and one that is larger stays whole.
        go_least: messages that have to go; where fewer would, none does.
        since: messages before it went already, but for the pinned ones.

    Raises:
        ValueError: a result is about no call before it.
    """
    movable = [each for each in exchanges(said) if not each.pinned and each.start >= since]
    first, kept = len(movable), 0
    for at in range(len(movable) - 1, -1, -1):
        each = movable[at]
        if not each.open and kept >= least and kept + len(each) > keep:
            break
        first, kept = at, kept + len(each)
    go = _numbers(movable[:first])
    if len(go) < max(1, go_least):
        return Cut(since, (), _numbers(movable))
    until = movable[first].start if first < len(movable) else len(said)
    return Cut(until, go, _numbers(movable[first:]))


def gone(said: Sequence[Said], until: int) -> tuple[int, ...]:
    """Return the numbers of the messages that a cut at `until` leaves out."""
    return _numbers([each for each in exchanges(said) if not each.pinned and not each.open and each.start < until])


def _numbers(found: Sequence[Exchange]) -> tuple[int, ...]:
    return tuple(number for each in found for number in range(each.start, each.stop))


def _pinned(said: Sequence[Said]) -> set[int]:
    found = {at for at, each in enumerate(said) if each.role == "system" or any(part.pinned for part in each.all_parts)}
    return found.union([at for at, each in enumerate(said) if each.role == "user"][:1])


def _reach(said: Sequence[Said]) -> list[int]:
    """Return the number of the last message that belongs to each message: itself, or its last result."""
    reach = list(range(len(said)))
    for at, caller in _answered(said):
        reach[caller] = max(reach[caller], at)
    for at in _waiting(said):
        reach[at] = len(said) - 1
    return reach


def _waiting(said: Sequence[Said]) -> set[int]:
    """Return the numbers of the answers that lack a result."""
    lacking = [len({call.id for call in each.calls}) for each in said]
    for caller, _ in {(caller, said[at].answers) for at, caller in _answered(said)}:
        lacking[caller] -= 1
    return {at for at, missing in enumerate(lacking) if missing}


def _answered(said: Sequence[Said]) -> Iterator[tuple[int, int]]:
    """Yield the number of each result, and that of the message which called for it."""
    called: dict[str, int] = {}
    for at, each in enumerate(said):
        called |= {call.id: at for call in each.calls}
        if not each.answers:
            continue
        if each.answers not in called:
            raise ValueError(f"message {at} is the result of {each.answers!r}, and no message before it calls for that")
        yield at, called[each.answers]
