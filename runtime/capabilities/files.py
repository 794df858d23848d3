"""`files.write`, `files.read`, `files.list`: the slot's own folder. What is written is also kept as an artifact."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Mapping

from contracts import Effect, EvidenceItem, EvidenceKind, Json, Parameter, Tier, ValueType
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, NewFile
from runtime.capabilities.python_code import sandbox_of
from runtime.capabilities.slot_files import list_files, read_file, write_file
from runtime.errors import BusinessRefusal, InvalidArguments
from runtime.settings import SlotSettings

_MOST_FILES = 10_000
_PATH = Parameter(type=ValueType.STRING, description="Path below the slot's folder.", example="tables/rates.csv")

WRITE = CapabilitySpec(
    name="files.write",
    kind="builtin_tool",
    description="Write a text file into the slot's folder and keep it as an artifact.",
    parameters={
        "path": _PATH,
        "text": Parameter(type=ValueType.STRING, description="What is written, as UTF-8."),
        "keep": Parameter(type=ValueType.BOOLEAN, description="Whether it is kept as an artifact.", default=True),
    },
    gives={"path": "string", "size": "integer", "sha256": "string"},
    effect=Effect.IDEMPOTENT,
    tier=Tier.EXECUTION,
    sandboxed=True,
)
READ = CapabilitySpec(
    name="files.read",
    kind="builtin_tool",
    description="Read a text file of the slot's folder.",
    parameters={"path": _PATH},
    gives={"path": "string", "text": "string", "size": "integer", "sha256": "string"},
    tier=Tier.EXECUTION,
    sandboxed=True,
)
LIST = CapabilitySpec(
    name="files.list",
    kind="builtin_tool",
    description="List the files of the slot's folder.",
    parameters={},
    gives={"files": "array", "n": "integer"},
    tier=Tier.EXECUTION,
    sandboxed=True,
)


class WriteFile:
    """`files.write`."""

    spec = WRITE

    def __init__(self, settings: SlotSettings) -> None:
        self._most = settings.file_mib * 1_024 * 1_024

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Write the file whole and return its size and hash."""
        path, data = str(arguments["path"]), str(arguments["text"]).encode()
        if len(data) > self._most:
            raise BusinessRefusal(f"{path} would have {len(data)} bytes; the slot allows {self._most}.", path=path)
        await asyncio.to_thread(write_file, sandbox_of(context, WRITE.name).folder, path, data)
        media_type = mimetypes.guess_type(path)[0] or "text/plain"
        kept = (NewFile(path, media_type, data),) if arguments.get("keep", True) else ()
        return CallResult(_about(path, data), evidence=(_seen(path, data, context, WRITE.name),), files=kept)


class ReadFile:
    """`files.read`."""

    spec = READ

    def __init__(self, settings: SlotSettings) -> None:
        self._most = settings.result_kib * 1_024

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the text of the file."""
        path = str(arguments["path"])
        data = await asyncio.to_thread(read_file, sandbox_of(context, READ.name).folder, path, most=self._most)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise InvalidArguments(f"{path} is not a text in UTF-8.", path=path) from None
        return CallResult({**_about(path, data), "text": text}, evidence=(_seen(path, data, context, READ.name),))


class ListFiles:
    """`files.list`."""

    spec = LIST

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the path and size of every file."""
        folder = sandbox_of(context, LIST.name).folder
        found = await asyncio.to_thread(list_files, folder, most=_MOST_FILES)
        return CallResult({"files": [{"path": path, "size": size} for path, size in found], "n": len(found)})


def _about(path: str, data: bytes) -> dict[str, Json]:
    return {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _seen(path: str, data: bytes, context: CallContext, capability: str) -> EvidenceItem:
    return EvidenceItem(
        kind=EvidenceKind.FILE, at=context.now, step=context.step, capability=capability,
        sha256=hashlib.sha256(data).hexdigest(), facts={"name": path, "size": len(data)},
    )  # fmt: skip
