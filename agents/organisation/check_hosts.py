"""`http.get` and `http.send`: who may use them has hosts to reach, and addresses that plans write out are listed."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.check_resources import calls_in
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault
from runtime.capabilities.connections import HostsConnection
from runtime.capabilities.web.hosts import Hosts
from runtime.capabilities.web.specs import GET, SEND
from runtime.errors import CapabilityFailed

_NAMES = (GET.name, SEND.name)
_LIST = "List them in connections.yaml: `web: {kind: hosts, hosts: [api.example.org]}`."


def host_faults(draft: Draft) -> Iterator[Fault]:
    """Yield employees that could reach nothing, addresses that nobody lists, and names that are taken."""
    yield from _name_faults(draft)
    connections = {name: read.value for name, read in draft.connections.items()}
    if draft.unread:
        return  # what cannot be read may list them
    if not any(isinstance(each, HostsConnection) for each in connections.values()):
        yield from _nothing_to_reach(draft)
        return
    hosts = Hosts(connections)
    for call in calls_in(draft):
        url = call.arguments.get("url")
        if call.use not in _NAMES or not isinstance(url, str):
            continue
        written, bound, _ = url.partition("{{")
        if bound and written.count("/") < 3:
            continue  # the host itself comes from elsewhere
        try:
            hosts.require(written)
        except CapabilityFailed as error:
            yield call.plan.fault((*call.path, "with", "url"), error.message)


def _nothing_to_reach(draft: Draft) -> Iterator[Fault]:
    if draft.org is None:
        return
    used = {name for entry in draft.employees.values() for name in entry.can if name in _NAMES}
    for name in sorted(used):
        yield draft.org.fault(("head",), f"`{name}` may reach nothing: no connection is of kind hosts.", _LIST)


def _name_faults(draft: Draft) -> Iterator[Fault]:
    """Yield connections of which a capability has the name of one that is built in."""
    for spec in draft.specs.values():
        name = spec.name.partition(".")[0]
        read = draft.connections.get(name)
        own = draft.builtin.get(spec.name)
        if read is not None and own is not None and own.kind != spec.kind:
            what = f"`{spec.name}` is built in, and this connection has another one of that name."
            yield read.fault((name,), what, "Give the connection another name.")
