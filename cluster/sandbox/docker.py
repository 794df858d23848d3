"""Driver `docker`: each program in a container of its own, made by a Docker Engine on this machine.

Needs the extra `docker` (`pip install silicon-org[docker]`), an engine that answers on a unix socket, and an image
(`slot.docker_image`) with a `python3` of 3.11 or newer and whatever scripts import.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from uuid import uuid4

from cluster.errors import SandboxBroken
from cluster.sandbox.allowance import MIB, Allowance
from cluster.sandbox.containers import Container, Engine
from cluster.sandbox.docker_program import ResidentContainer, run_script
from cluster.sandbox.folders import fresh_folder, remove_folder
from cluster.sandbox.paths import INSIDE
from cluster.sandbox.port import Lack
from cluster.sandbox.rlimits import FIRST_UID
from cluster.sandbox.started import START
from contracts import Json
from runtime.capabilities.port import NO_GRANTS, Grants, Sandbox, SandboxResult
from runtime.settings import SlotSettings

_SCRATCH = f"rw,nosuid,nodev,size={64 * MIB},mode=1777"
_LABEL, _FOLDER_LABEL = "org.silicon.slot", "org.silicon.folder"
"""Which slot a container belongs to, and which folder of it: that of one holder."""


class DockerDriver:
    """For production: a container is limited by the engine, and sees an image instead of this machine."""

    name = "docker"
    how_to_mend = ""

    def __init__(self, settings: SlotSettings, engine: Engine, *, uid: int) -> None:
        """Take the limits from `settings`; programs run as `uid`."""
        self._settings = settings
        self._engine = engine
        self._uid = uid

    @classmethod
    def for_slot(cls, settings: SlotSettings, index: int) -> DockerDriver:
        """Return the driver of one slot; only with root's rights can the slot's folder belong to a user of its own."""
        return cls(settings, Engine(), uid=FIRST_UID + index if os.geteuid() == 0 else os.getuid())

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by name."""
        return () if self._uid != os.getuid() else (Lack.OWN_USER.value,)

    async def open(self, folder: Path) -> DockerSandbox:
        """Return a sandbox in a fresh, empty folder; containers that earlier holders of the slot left are removed."""
        await asyncio.to_thread(self._engine.remove_all, {_LABEL: _slot_of(folder)})
        await asyncio.to_thread(fresh_folder, folder, self._uid if os.geteuid() == 0 else None)
        return DockerSandbox(folder, self._settings, self._engine, uid=self._uid)

    async def close(self, sandbox: Sandbox) -> None:
        """Remove the containers and the folder."""
        if isinstance(sandbox, DockerSandbox):
            await sandbox.end_residents()
        await asyncio.to_thread(self._engine.remove_all, {_FOLDER_LABEL: str(sandbox.folder)})
        await asyncio.to_thread(remove_folder, sandbox.folder)


class DockerSandbox:
    """One folder, mounted into the container of each program."""

    def __init__(self, folder: Path, settings: SlotSettings, engine: Engine, *, uid: int) -> None:
        self._folder = folder
        self._settings = settings
        self._engine = engine
        self._uid = uid
        self._residents: set[ResidentContainer] = set()

    @property
    def folder(self) -> Path:
        """The slot's own folder; it has the same path in the container."""
        return self._folder

    async def run_python(
        self, script: str, *, stdin: bytes = b"", wall_s: float | None = None, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        """Run `script` in a container; `stdin` is the JSON of its `inputs`."""
        source, wall_s = script.encode(), wall_s or self._settings.wall_s
        answer = f".answer-{uuid4().hex}"  # a container has no further descriptor
        allowance = Allowance.of(self._settings, grants)
        asked: dict[str, Json] = {"script_bytes": len(source), "answer_file": answer, "wall_s": wall_s}
        container = await self._container(asked, allowance, grants)
        sent = container.head + source + stdin
        return await run_script(container, sent, answer, allowance, self._settings, wall_s=wall_s)

    async def start(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        grants: Grants = NO_GRANTS,
    ) -> ResidentContainer:
        """Start a program that stays, in a container."""
        allowance = Allowance.of(self._settings, grants)
        asked: dict[str, Json] = {"argv": list(argv), "wall_s": wall_s}
        container = await self._container(asked, allowance, grants, environment)
        resident = await ResidentContainer.start(container, allowance, wall_s=wall_s)
        self._residents.add(resident)
        return resident

    async def end_residents(self) -> None:
        """End what still runs."""
        await asyncio.gather(*(resident.stop() for resident in self._residents))
        self._residents.clear()

    async def _container(
        self,
        asked: Mapping[str, Json],
        allowance: Allowance,
        grants: Grants,
        environment: Mapping[str, str] | None = None,
    ) -> Container:
        usual = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self._folder), "LANG": "C.UTF-8", "TMPDIR": "/tmp"}  # noqa: S108
        limits = allowance.rlimits(others=0)
        del limits["RLIMIT_NPROC"]  # the engine counts processes, for this container alone
        confine: dict[str, Json] = {
            "join": [], "folder": str(self._folder), "limits": dict(limits), "uid": None, "landlock": None,
            "families": None,
        }  # fmt: skip
        head: dict[str, Json] = {
            **asked,
            "confine": confine,
            "answer_fd": None,
            "environment": {**usual, **(environment or {})},
        }
        config = self._config(usual, allowance, grants)
        return await asyncio.to_thread(self._engine.create, config, head, self._folder)

    def _config(self, environment: Mapping[str, str], allowance: Allowance, grants: Grants) -> dict[str, Json]:
        """Return what the engine is asked for: `POST /containers/create`."""
        binds = [f"{self._folder}:{self._folder}:rw", f"{INSIDE}:{INSIDE}:ro"]
        binds += [f"{path}:{path}:ro" for path in grants.read]
        host: dict[str, Json] = {
            "Binds": list(binds),
            "NetworkMode": "bridge" if grants.network else "none",
            "Memory": allowance.memory_mib * MIB,
            "MemorySwap": allowance.memory_mib * MIB,
            "PidsLimit": allowance.processes,
            "ReadonlyRootfs": True,
            "Tmpfs": {"/tmp": _SCRATCH},  # noqa: S108
            "ShmSize": 64 * MIB,
            "IpcMode": "private",
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Init": True,
            "LogConfig": {"Type": "none"},
        }
        return {
            "Image": self._settings.docker_image,
            "Entrypoint": ["python3"],
            "Cmd": ["-I", "-B", "-c", START, str(INSIDE.parent)],
            "User": f"{self._uid}:{self._uid}",
            "WorkingDir": "/",
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "Labels": {_LABEL: _slot_of(self._folder), _FOLDER_LABEL: str(self._folder)},
            "OpenStdin": True, "StdinOnce": True, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True,
            "Hostname": "slot",
            "HostConfig": host,
        }  # fmt: skip


def _slot_of(folder: Path) -> str:
    """Return the slot of a folder `SLOT-FENCE`, the same for all its holders."""
    return str(folder.with_name(folder.name.rpartition("-")[0] or folder.name))


@cache
def why_not(image: str) -> str:
    """Return why containers cannot be used on this machine; empty where they can. The engine is really asked, once."""
    if not image:
        return "the setting slot.docker_image names no image"
    try:
        return Engine().why_not(image)
    except SandboxBroken as error:
        return error.message
