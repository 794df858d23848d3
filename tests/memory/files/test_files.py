"""Memories leave for files and come back as people edited them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryState
from memory.files.taken import Became
from runtime.errors import PermissionRefused
from tests.fakes.memories import ANN, BUSINESS, a_draft
from tests.memory.files.conftest import Files

pytestmark = pytest.mark.anyio
PREFERENCE = {"holder": ANN, "memory_class": MemoryClass.PREFERENCE}


async def test_files_are_their_owners_alone_and_hold_what_holds_and_what_is_archived(files: Files) -> None:
    kept, archived, gone = await files.book.add_many([a_draft(text) for text in ("Kept.", "Old.", "Gone.")], by="ann")
    await files.book.archive(archived.memory_id, by="ann")
    await files.book.withdraw(gone.memory_id, by="ann")
    exported = await files.out()
    assert [path.relative_to(files.root).as_posix() for path in exported.written] == [
        "business/notes.md", "business/archive/notes.md",
    ]  # fmt: skip
    assert (
        "Kept." in files.path(BUSINESS, "notes.md").read_text()
        and kept.memory_id.ulid in exported.written[0].read_text()
    )
    assert "Old." in files.path(BUSINESS, "archive/notes.md").read_text()
    modes = {stat.S_IMODE(path.stat().st_mode): path.is_dir() for path in (files.root, *files.root.rglob("*"))}
    assert modes == {0o700: True, 0o600: False}
    assert (await files.out()).same == 2


async def test_an_edit_is_a_new_version_and_twice_the_same_files_change_nothing(files: Files) -> None:
    record = await files.book.add(a_draft("I like tables.", **PREFERENCE, importance=0.7), by="talk")
    await files.out()
    await files.book.note_read([record.memory_id], by="ann")  # it is more important now, which is no edit
    files.edit(ANN, "preferences.md", "I like tables.", "I like charts.\n\nSmall ones.")
    files.edit(ANN, "preferences.md", "- importance", "- domain: freight\n- names: Newark, Elm\n- importance")
    first = await files.take()
    head = await files.book.head()
    again, once_more = await files.take(), await files.take()
    now = await files.book.get(record.memory_id)
    assert [(each.became, each.line, each.stands) for each in first.entries] == [(Became.CHANGED, 5, "I like tables.")]
    assert (now.text, now.domain, now.entities) == ("I like charts.\n\nSmall ones.", "freight", ("Newark", "Elm"))
    assert (now.version, now.written_by, now.importance) == (2, "ann", pytest.approx(0.735)), "reading counts on"
    assert (again.entries, again.untouched, once_more.entries) == ([], 1, [])
    assert await files.book.head() == head
    assert (await files.out()).edited == []


async def test_an_entry_without_a_mark_is_a_new_memory_once(files: Files) -> None:
    path = files.path(ANN, "preferences.md")
    path.parent.mkdir(parents=True)
    path.write_text("Short answers, please.\n\n---\nNo meetings on Fridays.\n- domain: freight")
    first, again = await files.take(), await files.take()
    assert [(each.became, each.line) for each in first.entries] == [(Became.ADDED, 1), (Became.ADDED, 4)]
    assert (again.entries, again.untouched) == ([], 2)
    made = await files.book.get(first.entries[1].memory_id)  # type: ignore[arg-type]
    assert (made.text, made.domain, made.memory_class) == ("No meetings on Fridays.", "freight", MemoryClass.PREFERENCE)
    assert (made.holder, made.source.file, made.source.said_by) == (ANN, "people/ann/preferences.md", "ann")


async def test_an_import_killed_before_it_wrote_the_marks_adds_nothing_twice(files: Files) -> None:
    path = files.path(ANN, "preferences.md")
    path.parent.mkdir(parents=True)
    path.write_text("Short answers, please.")
    await files.take()
    path.write_text("Short answers, please.")  # as it was before the marks
    again = await files.take()
    assert (again.entries, again.untouched) == ([], 1)
    assert "<!-- memory" in path.read_text()


async def test_a_memory_that_moved_on_is_a_conflict_with_both_texts_and_others_go_in(files: Files) -> None:
    moved, still = await files.book.add_many([a_draft("Elm is cheap."), a_draft("Oak is dear.")], by="talk")
    await files.out()
    await files.book.correct(moved.memory_id, {"text": "Elm is dear."}, by="ben", version=1)
    files.edit(BUSINESS, "notes.md", "Elm is cheap.", "Elm is very cheap.")
    files.edit(BUSINESS, "notes.md", "Oak is dear.", "Oak is cheap.")
    taken = await files.take()
    [conflict] = taken.refused
    lines = files.path(BUSINESS, "notes.md").read_text().split("\n")
    assert (conflict.file, lines[conflict.line - 1]) == ("business/notes.md", "Elm is very cheap.")
    assert (conflict.edited, conflict.stands) == ("Elm is very cheap.", "Elm is dear.")
    assert (await files.book.get(moved.memory_id)).text == "Elm is dear."
    assert (await files.book.get(still.memory_id)).text == "Oak is cheap."
    assert (await files.out()).edited == [files.path(BUSINESS, "notes.md")], "the person's words are not written over"
    files.edit(BUSINESS, "notes.md", f"{moved.memory_id.ulid} version 1", f"{moved.memory_id.ulid} version 2")
    assert not (await files.take()).refused
    assert (await files.book.get(moved.memory_id)).text == "Elm is very cheap."


async def test_what_nobody_edited_is_no_conflict_however_the_memory_moved_on(files: Files) -> None:
    record = await files.book.add(a_draft("Elm is cheap."), by="talk")
    await files.out()
    await files.book.correct(record.memory_id, {"text": "Elm is dear."}, by="ben", version=1)
    taken = await files.take()
    assert (taken.entries, taken.untouched) == ([], 1)


async def test_an_entry_that_was_taken_out_is_withdrawn_only_where_asked_for(files: Files) -> None:
    await files.book.add(a_draft("Elm is cheap."), by="talk")
    oak = await files.book.add(a_draft("Oak is dear."), by="talk")
    await files.out()
    await files.book.add(a_draft("Fir is new."), by="talk")  # was in no file, so nobody took it out
    path = files.path(BUSINESS, "notes.md")
    path.write_text(path.read_text().partition("---")[0])
    [missing] = (await files.take()).entries
    assert (missing.became, missing.memory_id) == (Became.MISSING, oak.memory_id)
    assert (await files.book.get(oak.memory_id)).state is MemoryState.ACTIVE
    path.write_text(path.read_text() + "---\nOdd.\n- domian: x\n")
    taken = await files.take(withdraw_missing=True)
    assert {each.became for each in taken.entries} == {Became.FAULT, Became.MISSING}, "not while a file has faults"
    path.write_text(path.read_text().partition("---")[0])
    assert [each.became for each in (await files.take(withdraw_missing=True)).entries] == [Became.WITHDRAWN]
    assert (await files.book.get(oak.memory_id)).state is MemoryState.WITHDRAWN
    assert (await files.take(withdraw_missing=True)).entries == []


async def test_all_faults_are_told_at_once_and_their_words_stay(files: Files) -> None:
    ann, business = await files.book.add_many([a_draft("Of Ann.", **PREFERENCE), a_draft("Of all.")], by="talk")
    await files.book.archive((await files.book.add(a_draft("Old."), by="talk")).memory_id, by="ann")
    await files.out()
    files.edit(BUSINESS, "archive/notes.md", "Old.", "Older.")
    files.edit(ANN, "preferences.md", ann.memory_id.ulid, business.memory_id.ulid)
    path = files.path(BUSINESS, "notes.md")
    entry = path.read_text().partition("-->\n\n")[2]
    path.write_text(f"{path.read_text()}{entry}---\n{'long ' * 900}\n---\nOf ALL.\n")
    files.path(BUSINESS, "facts.md").write_bytes(b"\xff\xfe")
    before = {each: each.read_bytes() for each in files.root.rglob("*.md")}
    taken = await files.take()
    told = [(each.file.rpartition("/")[2], each.became, each.why) for each in taken.entries if each.line]
    for name, became, words in (
        ("facts.md", Became.FAULT, "UTF-8"),
        ("notes.md", Became.FAULT, "stands twice"),
        ("notes.md", Became.FAULT, "cannot be remembered: text"),
        ("notes.md", Became.KNOWN, "is remembered already"),
        ("notes.md", Became.FAULT, "is archived"),
        ("preferences.md", Became.FAULT, "no memory/"),
    ):
        assert [each for each in told if each[:2] == (name, became) and words in each[2]], (words, told)
    assert {each: each.read_bytes() for each in files.root.rglob("*.md")} == before


async def test_what_stands_in_a_file_that_cannot_be_read_is_not_missing_and_no_link_is_followed(
    files: Files, tmp_path: Path
) -> None:
    await files.book.add(a_draft("Of all."), by="talk")
    await files.out()
    path, elsewhere = files.path(BUSINESS, "notes.md"), tmp_path / "elsewhere.md"
    elsewhere.write_text("A secret of somebody else.")
    path.write_bytes(path.read_text().encode("utf-16"))
    [unread] = (await files.take(withdraw_missing=True)).entries
    assert unread.became is Became.FAULT and "no UTF-8" in unread.why
    path.unlink()
    path.symlink_to(elsewhere)
    [linked] = (await files.take(withdraw_missing=True)).entries
    assert linked.became is Became.FAULT and "is a link" in linked.why
    await files.out(overwrite=True)
    assert elsewhere.read_text() == "A secret of somebody else." and not path.is_symlink()


async def test_who_may_not_change_a_holder_is_told_so(files: Files) -> None:
    def refuse(holder: MemoryHolder) -> None:
        if holder.kind is HolderKind.BUSINESS:
            raise PermissionRefused("not yours")

    record = await files.book.add(a_draft("Of all."), by="talk")
    await files.out()
    assert not (await files.take(may_change=refuse)).entries
    files.edit(BUSINESS, "notes.md", "Of all.", "Of none.\n---\nNew.")
    assert {each.became for each in (await files.take(may_change=refuse)).entries} == {Became.FAULT}
    assert (await files.book.get(record.memory_id)).text == "Of all."


async def test_what_contradicts_a_decision_waits_for_a_person(files: Files) -> None:
    says = {"subject": "freight", "relation": "is bought from"}
    await files.book.add(a_draft("Oak it is.", memory_class=MemoryClass.DECISION, value="Oak", **says), by="ann")
    path = files.path(BUSINESS, "facts.md")
    path.parent.mkdir(parents=True)
    path.write_text("Elm it is.\n- about: freight\n- relation: is bought from\n- value: Elm\n")
    [entry] = (await files.take()).entries
    assert entry.became is Became.DISPUTED and entry.why
    assert not (await files.take()).entries
