"""Channels: whoever is told by one names one that is there, and has what it takes."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault


def channel_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with how people are told."""
    if draft.org is None:
        return
    org = draft.org
    for number, person in enumerate(org.value.people):
        for place, entry in enumerate(person.notify):
            channel, path = org.value.channels.get(entry.by), ("people", number, "notify")
            if channel is None:
                what = f"There is no channel `{entry.by}`."
                yield org.fault((*path, place, "by"), what, nearest(entry.by, org.value.channels))
            elif channel.kind == "email" and person.email is None:
                what = f"`{person.id}` is told by `{entry.by}` and has no `email`."
                yield org.fault(path, what, "Add `email`, or tell them by another channel.")
        if person.quiet is not None and person.quiet.begins == person.quiet.ends:
            yield org.fault(
                ("people", number, "quiet"), "`quiet` begins and ends at the same time, so it is never over."
            )
