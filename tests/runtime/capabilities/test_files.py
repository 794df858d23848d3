from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from runtime.capabilities import slot_files
from runtime.capabilities.files import ListFiles, ReadFile, WriteFile
from runtime.errors import BusinessRefusal, CapabilityFailed, InvalidArguments, PermissionRefused
from runtime.settings import SlotSettings
from tests.fakes.calls import a_call
from tests.fakes.slot_folder import SlotFolder

pytestmark = pytest.mark.anyio

SMALL = SlotSettings(file_mib=1, result_kib=1)


@pytest.fixture
def slot(tmp_path: Path) -> SlotFolder:
    folder = tmp_path / "slot"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    return SlotFolder(folder)


async def write(slot: SlotFolder, path: str, text: str = "a") -> Any:
    return await WriteFile(SMALL).call({"path": path, "text": text}, a_call(sandbox=slot))


async def read(slot: SlotFolder, path: str) -> Any:
    return (await ReadFile(SMALL).call({"path": path}, a_call(sandbox=slot))).output["text"]


async def test_what_is_written_can_be_read_and_is_kept(slot: SlotFolder) -> None:
    written = await write(slot, "tables/rates.csv", "a,b\n")

    assert await read(slot, "tables/rates.csv") == "a,b\n"
    assert [(file.name, file.media_type, file.data) for file in written.files] == [
        ("tables/rates.csv", "text/csv", b"a,b\n")
    ]
    listed = await ListFiles().call({}, a_call(sandbox=slot))
    assert listed.output == {"files": [{"path": "tables/rates.csv", "size": 4}], "n": 1}


async def test_writing_twice_is_the_same_as_once(slot: SlotFolder) -> None:
    first, second = await write(slot, "a.txt"), await write(slot, "a.txt")

    assert first.output == second.output
    assert os.listdir(slot.folder) == ["a.txt"]  # noqa: PTH208


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "", "a//b", ".", "a\0b", "a\\b", "x/" * 20 + "y"]
)
async def test_no_path_leads_out_of_the_slot(slot: SlotFolder, path: str) -> None:
    with pytest.raises(PermissionRefused, match="not a file of the slot"):
        await read(slot, path)
    with pytest.raises(PermissionRefused):
        await write(slot, path)


async def test_no_link_leads_out_of_the_slot(slot: SlotFolder) -> None:
    (slot.folder / "link").symlink_to(slot.folder.parent / "secret.txt")
    (slot.folder / "up").symlink_to(slot.folder.parent)

    for path in ("link", "up/secret.txt"):
        with pytest.raises(PermissionRefused, match="through a link"):
            await read(slot, path)
    with pytest.raises(PermissionRefused):
        await write(slot, "up/new.txt")
    await write(slot, "link", "mine")

    assert (slot.folder.parent / "secret.txt").read_text() == "secret"
    assert (await ListFiles().call({}, a_call(sandbox=slot))).output["n"] == 1


async def test_a_pipe_left_by_a_script_does_not_hold_the_reader(slot: SlotFolder) -> None:
    os.mkfifo(slot.folder / "pipe")

    with pytest.raises(PermissionRefused, match="not a plain file"):
        await read(slot, "pipe")


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (None, InvalidArguments, "There is no file a.txt"),
        (b"x" * 2_000, BusinessRefusal, "larger than 1024 bytes"),
        (b"\xff\xfe", InvalidArguments, "not a text in UTF-8"),
    ],
)
async def test_what_cannot_be_read_is_told(
    slot: SlotFolder, content: bytes | None, error: type[CapabilityFailed], words: str
) -> None:
    if content is not None:
        (slot.folder / "a.txt").write_bytes(content)
    with pytest.raises(error, match=words):
        await read(slot, "a.txt")


async def test_a_file_larger_than_the_slot_allows_is_not_written(slot: SlotFolder) -> None:
    with pytest.raises(BusinessRefusal, match="the slot allows"):
        await write(slot, "a.txt", "x" * 2_000_000)


async def test_a_folder_that_becomes_a_link_while_files_are_listed_leads_nowhere(
    slot: SlotFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(slot, "below/a.txt")
    outside, entries = tmp_path / "outside", slot_files._entries
    outside.mkdir()
    (outside / "theirs.txt").write_text("theirs")

    def then_replaced(folder: int) -> tuple[list[tuple[str, int]], list[str]]:
        found = entries(folder)
        if found[1]:  # the script is quicker
            (slot.folder / "below").rename(slot.folder / "elsewhere")
            (slot.folder / "below").symlink_to(outside)
        return found

    monkeypatch.setattr(slot_files, "_entries", then_replaced)

    assert (await ListFiles().call({}, a_call(sandbox=slot))).output == {"files": [], "n": 0}
