"""Knowledge folders from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.console.test_memory import Desk, desk

__all__ = ["desk"]
FACT = "The lift of hall three is slow."


def test_something_is_placed_written_and_linted(desk: Desk) -> None:
    assert "Index and body" in desk.told("place", FACT, "--when", "goods for hall three")
    assert not (Path(desk.folder) / "knowledge").exists()
    told = desk.data("place", FACT, "--when", "goods for hall three", "--write", "--title", "Lift", "--domain", "halls")
    assert told == {
        "layer": "body", "why": "one sentence tells when it is needed", "in_full": False,
        "path": "knowledge/halls/lift.md", "index": "knowledge/halls/INDEX.md",
    }  # fmt: skip
    assert "stands in knowledge/halls/lift.md:8 already" in desk.failed("place", FACT, "--when", "x")
    assert "This is not a memory" in desk.failed("place", "It rained.")
    assert "1 entries, 1 texts: nothing to be mended, 0 listed." in desk.told("lint")


def test_a_lint_tells_file_and_line_and_mends_what_is_safe(desk: Desk) -> None:
    desk.told("place", FACT, "--when", "goods for hall three", "--write", "--title", "Lift", "--domain", "halls")
    folder = Path(desk.folder) / "knowledge" / "halls"
    (folder / "lift.md").rename(folder / "old.md")
    (folder / "INDEX.md").write_text("# Halls\n\n- [Old](old.md)\n")
    told = desk.told("lint", exits=1)
    assert "knowledge/halls/INDEX.md:3  `Old` does not say when to open it." in told
    (folder / "INDEX.md").write_text("# Halls\n")
    text = (folder / "old.md").read_text().replace("confidence", "when: goods for hall three\nconfidence")
    (folder / "old.md").write_text(text)
    assert "No index leads here." in desk.told("lint", exits=1)
    assert "Mended: 1." in desk.told("lint", "--fix")
    assert "- [Lift](old.md) — goods for hall three" in (folder / "INDEX.md").read_text()


def test_what_cannot_be_opened_is_found_before_anything_runs(desk: Desk) -> None:
    (Path(desk.folder) / "knowledge").mkdir()
    (Path(desk.folder) / "knowledge" / "INDEX.md").write_text("- [Gone](gone.md) — never\n")
    assert "knowledge/INDEX.md:1  `knowledge/gone.md` is not there." in desk.checked()


def test_a_file_that_is_no_text_is_found_before_anything_runs(desk: Desk) -> None:
    (Path(desk.folder) / "knowledge").mkdir()
    (Path(desk.folder) / "knowledge" / "a.md").write_bytes(b"\xff\xfe")
    assert "knowledge/a.md:1  knowledge/a.md is not UTF-8 text." in desk.checked()
    assert "is not UTF-8 text" in desk.failed("lint")
