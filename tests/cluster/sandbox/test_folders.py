from __future__ import annotations

import os
from pathlib import Path

from cluster.sandbox.folders import remove_folder
from cluster.sandbox.usage import disk_used


def test_everything_goes_and_what_links_point_to_stays(tmp_path: Path) -> None:
    folder, kept = tmp_path / "slot", tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("gone")
    (folder / "link").symlink_to(kept)
    (folder / "a" / "closed").mkdir(mode=0)
    os.mkfifo(folder / "pipe")

    remove_folder(folder)

    assert not folder.exists()
    assert (kept / "file").read_text() == "kept"


def test_a_link_in_the_place_of_the_folder_goes_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "slot").symlink_to(tmp_path / "kept")

    remove_folder(tmp_path / "slot")

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_files_count_as_what_they_take_on_the_disk_and_empty_ones_count_too(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"x" * 100_000)
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(10_000_000_000)
    for number in range(10):
        (tmp_path / str(number)).touch()

    assert 140_000 < disk_used(tmp_path, [], enough=10**9) < 200_000


def test_a_deleted_file_counts_as_long_as_somebody_holds_it(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 1_000_000)
        file.flush()
        (tmp_path / "file").unlink()

        assert disk_used(tmp_path, [os.getpid()], enough=10**9) >= 1_000_000
