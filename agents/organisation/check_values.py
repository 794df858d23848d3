"""What steps pass as it stands in the plan: parameters of queries, and values that keys of the blackboard take."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.check_resources import Call, calls_in, is_written_out
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault
from governance.notifications import SPEC as NOTIFY
from runtime.bindings import texts_of
from runtime.blackboard.rules import KeyRule
from runtime.capabilities.blackboard import WRITE
from runtime.capabilities.connections import BridgeConnection, HostsConnection, HttpConnection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.resources import text_of
from runtime.capabilities.sql_names import not_passed
from runtime.errors import InvalidArguments


def value_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with what steps pass."""
    for call in calls_in(draft):
        if call.use == WRITE.name:
            yield from _board_faults(draft, call)
        elif call.use is not None and call.use.endswith(".query"):
            yield from _query_faults(draft, call)
        elif call.use == NOTIFY.name:
            yield from _recipient_faults(draft, call)


def _query_faults(draft: Draft, call: Call) -> Iterator[Fault]:
    connection = draft.connections.get(str(call.use).removesuffix(".query"))
    sql = call.arguments.get("sql")
    others = HttpConnection | HostsConnection | BridgeConnection | McpConnection
    if connection is None or isinstance(connection.value, others) or not is_written_out(sql):
        return
    given = call.arguments.keys() - {"sql"}
    for name in not_passed(connection.value, text_of(sql), given):
        what = f"The query of `{call.step.id}` names {name}, and no value is passed for it."
        yield call.plan.fault((*call.path, "with"), what, nearest(name[1:], given) or f"Pass `{name[1:]}`.")


def _recipient_faults(draft: Draft, call: Call) -> Iterator[Fault]:
    """Yield a recipient that nobody is."""
    to = call.arguments.get("to")
    if draft.org is None or not isinstance(to, str) or any(texts_of(to)):
        return
    people = draft.org.value.people
    known = {*(person.id for person in people), *(group for person in people for group in person.groups)}
    if to not in known:
        yield call.plan.fault((*call.path, "with", "to"), f"There is no person or group `{to}`.", nearest(to, known))


def _board_faults(draft: Draft, call: Call) -> Iterator[Fault]:
    """Yield a constant that its key does not take."""
    key, value = call.arguments.get("key"), call.arguments.get("value")
    entry = draft.org.value.blackboard.get(key) if draft.org and isinstance(key, str) else None
    if entry is None or "value" not in call.arguments or any(texts_of(value)):
        return
    try:
        KeyRule(entry.merge, entry.type).require(str(key), value)
    except InvalidArguments as error:
        yield call.plan.fault((*call.path, "with", "value"), error.message)
