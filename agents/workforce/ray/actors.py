"""Every call of Ray that the workforce makes: connecting, hosts as actors, calls to them."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from agents.workforce.errors import HostLost, HostNotReady, RayMissing, RayUnavailable
from agents.workforce.ray.environment import only_what_is_passed_on
from agents.workforce.ray.host import Host
from agents.workforce.ray.messages import Address
from agents.workforce.ray.ports import OpenOffice
from agents.workforce.ray.reach import address_given, require_answer, unavailable
from agents.workforce.ray.starting import started
from contracts import Name
from runtime.errors import SiliconError
from runtime.garbage import look_rarely, pass_over_the_start
from runtime.settings.groups import RaySettings

_FOLDER = "silicon-ray-"
_REAPERS: list[subprocess.Popen[bytes]] = []
"""Of the Ray that this process started, as long as it runs."""
_ON_NETWORK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Whether a Ray takes the machine's address in the network, on any system; else it listens on loopback alone.

`_node_ip_address` of `ray.init` is no way: Ray replaces loopback by the address in the network there.
"""
_AWAY_S, _AGAIN_S = 5.0, 0.2
"""How long a host that cannot be reached for the moment is tried again, and how often."""
_CONCURRENT = 100_000
"""Calls of one host at once: those that wait for others take part in it, and none may wait for them."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What the process of a host is made from."""

    wire: str
    """Import path, `module:function`, of what opens its office."""
    home: str
    given: Mapping[str, Any]
    """Settings that were given on the command line; the others it reads as every process does."""
    node: RayNode | None = None
    """The node that it belongs to, where there are several."""
    start_tries: int = 3
    """How often a host of one employee is started where it ends while it starts."""


@dataclass(frozen=True, slots=True)
class RayNode:
    """One node of Ray that lives."""

    node_id: str
    machine: str
    cores: int
    labels: tuple[str, ...] = ()
    """Labels that were given to it: those of the value true by their name, others as `name=value`."""

    @property
    def name(self) -> str:
        """What tells it apart from others in the names of files."""
        return self.node_id[:16]


def require_ray() -> None:
    """Raise RayMissing, with what to do, when the extra is not installed; nothing is imported."""
    if find_spec("ray") is None:
        raise RayMissing(
            "The engine ray needs Ray, which is not installed. Install it with `pip install 'silicon-org[ray]'`, or "
            "use the engine inline."
        )


def connect(settings: RaySettings) -> bool:
    """Connect to the Ray of RAY_ADDRESS, else start one on this machine; return whether this did it.

    A process that is connected already stays so.

    Raises:
        RayMissing: it is not installed.
        RayUnavailable: it cannot be reached, or does not start.
    """
    require_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    address = address_given()
    if not address:
        os.environ.setdefault(_ON_NETWORK, "0")  # Ray reads it when it is imported
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every worker compiles all it imports, which takes seconds
    import ray

    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"include_dashboard": False, "logging_level": "ERROR", "log_to_driver": False}
    try:
        if address:
            require_answer(address)
            ray.init(address, **quiet)
            _keep_off_output()
            return True
        remove_left()
        folder = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")
        store = settings.object_store_mib * 1024 * 1024
        _start_reaper()
        with only_what_is_passed_on():
            ray.init("local", object_store_memory=store, _temp_dir=folder, **quiet)
        _keep_off_output()
        return True
    except (ray.exceptions.RayError, ValueError, RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if address:
            raise unavailable(address, reason) from error
        raise RayUnavailable(
            f"Ray does not start here: {reason.rstrip('.')}. Look at its log, or use the engine inline.", address=None
        ) from error


def _keep_off_output() -> None:
    """Keep Ray from printing what became of nodes: standard output is for the command's answer, which may be JSON."""
    from ray._private import worker

    worker._worker_logs_enabled = False  # there is no public way; what it would say stands in the log of Ray


def disconnect() -> None:
    """Leave Ray; one that was started here ends, with all its processes and files."""
    import ray

    ray.shutdown()
    while _REAPERS:
        reaper = _REAPERS.pop()
        reaper.kill()  # nothing is left for it
        reaper.communicate()
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}{os.getpid()}-*"):
        shutil.rmtree(folder, ignore_errors=True)


def nodes() -> Sequence[RayNode]:
    """Return the nodes that live."""
    import ray

    return [
        RayNode(
            node["NodeID"],
            node["NodeManagerAddress"],
            max(1, int(node["Resources"].get("CPU", 1))),
            tuple(sorted(_label(*each) for each in node["Labels"].items() if not each[0].startswith("ray.io/"))),
        )
        for node in ray.nodes()  # type: ignore[no-untyped-call]
        if node["Alive"]
    ]


class RayLine:
    """The port `Line` over Ray."""

    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint
        self._handles: dict[str, Any] = {}
        self.several = False
        """Whether Ray has several nodes, so that processes have to know which one is theirs."""

    async def call(self, actor: str, method: str, message: bytes) -> bytes:
        """Return the answer of a host; see the port."""
        from ray.exceptions import ActorUnavailableError, RayActorError

        tries = int(_AWAY_S / _AGAIN_S)
        while True:
            try:
                handle = self._handles.get(actor) or await asyncio.to_thread(self._find, actor)
                answer: bytes = await getattr(handle, method).remote(message)
            except ActorUnavailableError as error:  # it may have got the message: the same one again changes nothing
                tries -= 1
                if not tries:
                    raise HostLost(actor) from error
                await asyncio.sleep(_AGAIN_S)
            except RayActorError as error:
                raise HostLost(actor) from error
            else:
                return answer

    async def start(self, actor: str, node: RayNode | None, *, alone: Name | None = None) -> Address:
        """Start a host and return where it is; on that node, or where Ray finds room.

        Raises:
            HostNotReady: it does not start there.
            SiliconError: its office cannot be opened, and why.
        """
        from ray.exceptions import RayError
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        options: dict[str, Any] = {"name": actor, "num_cpus": 0, "max_concurrency": _CONCURRENT}
        blueprint = self._blueprint
        if node is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
        if self.several:
            blueprint = replace(blueprint, node=node)
        handle = _host_class().options(**options).remote(blueprint, actor, alone)
        try:
            opened = pickle.loads(await handle.open.remote())  # noqa: S301 - from another process of ours
        except RayError as error:
            raise HostNotReady(f"A host did not start: {str(error).strip().splitlines()[-1]}", actor=actor) from error
        if isinstance(opened, SiliconError):
            raise opened
        assert isinstance(opened, Address)
        self._handles[actor] = handle
        return opened

    async def start_apart(self, employee: Name) -> Address:
        """Start a host for one employee alone, owned by this process; see the port."""
        node, self.several = self._blueprint.node, self._blueprint.node is not None
        return await started(lambda: self.start(new_name(), node, alone=employee), self._blueprint.start_tries)

    def kill(self, actor: str) -> None:
        """End the process of a host that this process started, whatever it does."""
        import ray

        handle = self._handles.pop(actor, None)
        if handle is not None:
            ray.kill(handle)

    def _find(self, actor: str) -> Any:
        import ray

        try:
            handle = self._handles[actor] = ray.get_actor(actor)
        except ValueError as error:
            raise HostLost(actor) from error
        return handle


class HostActor:
    """The actor around a host."""

    def __init__(self, blueprint: Blueprint, actor: str, alone: Name | None) -> None:
        self._blueprint = blueprint
        self._actor = actor
        self._alone = alone
        self._host: Host | None = None

    async def open(self) -> bytes:
        """Open its office; return its address, or the error that a person can read."""
        look_rarely()
        module, _, function = self._blueprint.wire.partition(":")
        open_office: OpenOffice = getattr(import_module(module), function)
        try:
            office = await open_office(Path(self._blueprint.home), self._blueprint.given, self._blueprint.node)
            line = RayLine(self._blueprint)
            self._host = Host(office, line, actor=self._actor, alone=self._alone, end=lambda: os._exit(1))
            address = await self._host.open()
            pass_over_the_start()
            return pickle.dumps(address)
        except SiliconError as error:
            return pickle.dumps(error)

    async def deliver(self, message: bytes) -> bytes:
        """Have an order carried out."""
        return await self._open_host.deliver(message)

    async def stop(self, message: bytes) -> bytes:
        """Stop an order."""
        return await self._open_host.stop(message)

    async def leave(self, message: bytes) -> bytes:
        """Forget an execution."""
        return await self._open_host.leave(message)

    async def drain(self, message: bytes) -> bytes:
        """Begin nothing new; return the executions in which something is in progress."""
        return await self._open_host.drain(message)

    async def close(self, message: bytes) -> bytes:
        """End in good order."""
        return await self._open_host.close(message)

    @property
    def _open_host(self) -> Host:
        assert self._host is not None, "a host is opened before it is called"
        return self._host


def _label(name: str, value: str) -> str:
    return name if value == "true" else f"{name}={value}"


def new_name() -> str:
    """Return the name of a new actor: no other ever bears it, so that no call reaches a later one by mistake."""
    return f"host-{os.urandom(10).hex()}"


@cache
def _host_class() -> Any:
    import ray

    return ray.remote(HostActor)


def _start_reaper() -> None:
    """Start what ends the rest of Ray if this process is killed: a pipe to it closes then."""
    program = Path(__file__).with_name("reaper.py")
    command = [sys.executable, "-I", "-S", str(program), str(os.getpid())]
    reaper = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, env={})  # noqa: S603 - ours
    _REAPERS.append(reaper)


def remove_left() -> None:
    """Remove what Ray left behind when the process that had started it was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        pid = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
