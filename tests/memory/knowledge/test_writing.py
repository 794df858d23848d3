"""Writing knowledge down: where it belongs, together with its entry, whatever happens in between."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from datetime import date
from pathlib import Path

import pytest

from memory.knowledge.errors import KnowledgeBusy, KnowledgeUnreadable, KnowledgeUnwritable, NotAMemory
from memory.knowledge.folder import KnowledgeFolder
from memory.knowledge.lint import lint
from memory.knowledge.placement import Answers, Layer, Nature
from memory.knowledge.writing import Note, NoteWritten, mend, slug, write_note
from runtime.errors import InvalidArguments
from runtime.settings import MemorySettings

TODAY = date(2026, 11, 30)
SETTINGS = MemorySettings()
SNOW = Note("Newark closes its short runway first when it snows.", "Newark in snow", "airports")


def write(folder: Path, note: Note = SNOW, **answers: object) -> NoteWritten:
    told = Answers(**({"when": "snow at Newark"} | answers))  # type: ignore[arg-type]
    return write_note(KnowledgeFolder(folder), note, told, today=TODAY, settings=SETTINGS)


def faults(folder: Path) -> list[str]:
    return [each.what for each in lint(KnowledgeFolder(folder).texts(), TODAY, SETTINGS)]


def test_a_body_is_written_with_its_entry_and_lints_clean(tmp_path: Path) -> None:
    done = write(tmp_path)
    assert (done.path, done.index) == ("knowledge/airports/newark-in-snow.md", "knowledge/airports/INDEX.md")
    index = (tmp_path / done.index).read_text()
    assert index == "# airports\n\n- [Newark in snow](newark-in-snow.md) — snow at Newark\n"
    assert "verified: 2026-11-30" in (tmp_path / done.path).read_text() and faults(tmp_path) == []
    write(tmp_path, Note("LaGuardia has two runways that cross each other.", "Newark in snow", "airports"), when="wind")
    assert (tmp_path / "knowledge/airports/newark-in-snow-2.md").is_file() and faults(tmp_path) == []


def test_what_is_needed_in_every_turn_becomes_a_line_of_the_resident_layer(tmp_path: Path) -> None:
    done = write(tmp_path, Note("Say of which day a number is."), every_turn=True)
    assert done.placement.layer is Layer.RESIDENT
    assert (tmp_path / "knowledge/RESIDENT.md").read_text().endswith("\n- Say of which day a number is.\n")
    assert faults(tmp_path) == []


def test_what_happened_goes_into_the_log_newest_first(tmp_path: Path) -> None:
    for title in ("First storm", "Second storm"):
        write(
            tmp_path,
            Note(f"The {title} closed all three airports for a day.", title, "airports"),
            nature=Nature.HAPPENED,
        )
    lines = (tmp_path / "knowledge/airports/LOG.md").read_text().splitlines()
    assert [line[2:16] for line in lines[2:]] == ["[Second storm]", "[First storm]("]
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    ("note", "answers", "why"),
    [
        (SNOW, {"when": ""}, "This is not a memory"),
        (SNOW, {"when": "", "exact": True}, "Say in one sentence"),
        (SNOW, {"when": "x" * 61}, "61 characters"),
        (SNOW, {"nature": Nature.STANDING}, "Where a task stands"),
        (SNOW, {"nature": Nature.RULE}, "rules/NAME.yaml"),
        (Note("x" * 111), {"every_turn": True}, "one line of 110"),
    ],
)
def test_what_belongs_nowhere_here_is_refused_with_the_reason(
    tmp_path: Path, note: Note, answers: dict[str, object], why: str
) -> None:
    with pytest.raises(NotAMemory, match=why):
        write(tmp_path, note, **answers)
    assert not list(tmp_path.rglob("*.md"))


def test_one_fact_is_not_written_twice(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(NotAMemory, match=r"knowledge/airports/newark-in-snow.md:8 already"):
        write(tmp_path, Note("By the way. Newark closes its short runway first when it snows!", "Again"))


def test_a_body_without_a_title_and_a_path_that_leads_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="A title"):
        write(tmp_path, Note(SNOW.text))
    for domain in ("../..", "Bad Domain", "a/b"):
        with pytest.raises(InvalidArguments, match="no name of a domain"):
            write(tmp_path, Note(SNOW.text, "T", domain))
    with pytest.raises(InvalidArguments, match="leads out"):
        KnowledgeFolder(tmp_path).write({"knowledge/../org.yaml": "x"}, expected={})
    assert not (tmp_path / "org.yaml").exists()


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "org"
    (folder / "knowledge").mkdir(parents=True)
    (folder / "knowledge" / "a.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(KnowledgeUnreadable, match="leads out"):
        KnowledgeFolder(folder).texts()


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "a.md").write_bytes(b"\xff\xfe\0")
    with pytest.raises(KnowledgeUnreadable, match=r"knowledge/a.md is not UTF-8"):
        KnowledgeFolder(tmp_path).texts()


def test_an_index_that_somebody_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    write(tmp_path)
    index = tmp_path / "knowledge/airports/INDEX.md"
    before = index.read_text()
    index.write_text(before + "- [Edited](x.md) — by hand\n")
    with pytest.raises(KnowledgeBusy, match="changed meanwhile"):
        KnowledgeFolder(tmp_path).write(
            {"knowledge/airports/INDEX.md": "new"}, expected={"knowledge/airports/INDEX.md": before}
        )
    assert "by hand" in index.read_text()


def _die_at(folder: str, write_number: int) -> None:
    counted = 0
    really = os.fsync

    def dying(handle: int) -> None:
        nonlocal counted
        counted += 1
        if counted == write_number:
            os.kill(os.getpid(), signal.SIGKILL)
        really(handle)

    os.fsync = dying
    write(Path(folder))


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_process_that_is_killed_leaves_all_of_it_or_nothing(tmp_path: Path, moment: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=_die_at, args=(str(tmp_path), moment))
    process.start()
    process.join()
    folder = KnowledgeFolder(tmp_path)
    pending = folder.interrupted
    folder.finish()
    body, index = tmp_path / "knowledge/airports/newark-in-snow.md", tmp_path / "knowledge/airports/INDEX.md"
    assert body.is_file() == index.is_file()
    assert body.is_file() or not pending
    assert faults(tmp_path) == []
    if not body.is_file():
        write(tmp_path)
    assert faults(tmp_path) == [] and not folder.interrupted


def test_an_interrupted_write_that_cannot_be_read_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "knowledge/.pending.json").write_text("{")
    with pytest.raises(KnowledgeUnreadable, match="cannot be read"):
        write(tmp_path, Note("LaGuardia has two runways that cross.", "Wind", "airports"))
    (tmp_path / "knowledge/.pending.json").write_text(json.dumps({"changes": {"../x": "y"}}))
    with pytest.raises(InvalidArguments, match="leads out"):
        KnowledgeFolder(tmp_path).finish()


def test_what_is_safe_is_mended_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path)
    folder = tmp_path / "knowledge" / "airports"
    (folder / "moved").mkdir()
    (folder / "newark-in-snow.md").rename(folder / "moved" / "newark-in-snow.md")
    text = (folder / "moved" / "newark-in-snow.md").read_text()
    other = "LaGuardia has two runways that cross each other."
    (folder / "wind.md").write_text(
        text.replace("Newark in snow", "Wind")
        .replace(SNOW.text, other)
        .replace("---\n\n", "when: strong wind\n---\n\n")
    )
    index = folder / "INDEX.md"
    index.write_text(index.read_text() + "- [Gone](gone.md) — somebody wrote it\n")
    assert mend(KnowledgeFolder(tmp_path), SETTINGS) == 2
    told = index.read_text()
    assert "(moved/newark-in-snow.md) — snow at Newark" in told and "[Wind](wind.md) — strong wind" in told
    assert faults(tmp_path) == ["`knowledge/airports/gone.md` is not there."]
    assert mend(KnowledgeFolder(tmp_path), SETTINGS) == 0


def test_every_entry_of_a_file_that_moved_leads_there_again_with_or_without_a_description(tmp_path: Path) -> None:
    done = write(tmp_path)
    folder = tmp_path / "knowledge" / "airports"
    index = folder / "INDEX.md"
    index.write_text(index.read_text() + "- [Snow](newark-in-snow.md)\n")
    resident = tmp_path / "knowledge" / "RESIDENT.md"
    resident.write_text("- [Snow](airports/newark-in-snow.md) — it snows\n")
    (folder / "winter").mkdir()
    (folder / "newark-in-snow.md").rename(folder / "winter" / "newark-in-snow.md")
    mend(KnowledgeFolder(tmp_path), SETTINGS)
    assert index.read_text().splitlines()[2:] == [
        "- [Newark in snow](winter/newark-in-snow.md) — snow at Newark", "- [Snow](winter/newark-in-snow.md)",
    ], done  # fmt: skip
    assert resident.read_text() == "- [Snow](airports/winter/newark-in-snow.md) — it snows\n"
    assert mend(KnowledgeFolder(tmp_path), SETTINGS) == 0


def test_titles_become_names_of_files() -> None:
    assert [slug(each) for each in ("Newark in snow!", "纽瓦克 下雪", "../../etc", "!!!")][:3] == [
        "newark-in-snow", "纽瓦克-下雪", "etc",
    ]  # fmt: skip
    assert len(slug("!!!")) == 12


def test_a_folder_that_is_something_else_is_named_and_nothing_is_written_beyond_it(tmp_path: Path) -> None:
    organisation, elsewhere = tmp_path / "desk", tmp_path / "elsewhere"
    organisation.mkdir()
    elsewhere.mkdir()
    (organisation / "knowledge").symlink_to(elsewhere)
    for what in (lambda: write(organisation), lambda: faults(organisation)):
        with pytest.raises(KnowledgeUnreadable, match="knowledge leads out of the organisation's folder"):
            what()
    assert not [*elsewhere.iterdir()]
    (organisation / "knowledge").unlink()
    (organisation / "knowledge").write_text("")
    with pytest.raises(KnowledgeUnreadable, match="knowledge is no folder"):
        write(organisation)


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    root = tmp_path / "knowledge"
    root.mkdir()
    (root / "airports").write_text("")
    with pytest.raises(KnowledgeUnwritable, match=r"knowledge/airports.* cannot be written: (File exists|Not a dir)"):
        write(tmp_path)
