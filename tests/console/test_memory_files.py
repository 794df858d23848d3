"""Memories in files as people use them."""

from __future__ import annotations

from tests.console.test_memory import Desk, desk

__all__ = ["desk"]


def test_a_memory_is_edited_in_its_file(desk: Desk) -> None:
    desk.write("Gate B leaks.", "--whose", "business")
    desk.write("I like tables.", "--class", "preference")
    told = desk.data("export", "--as", "planner")
    assert told["written"] == ["business/facts.md", "people/planner/preferences.md"]
    file = desk.home / "memory" / "desk" / "business" / "facts.md"
    file.write_text(file.read_text().replace("Gate B leaks.", "Gate C leaks.") + "\n---\nNew.\n- domian: x\n")
    told = desk.told("import", "--as", "planner", exits=1)
    assert "changed  business/facts.md:5" in told and "before: Gate B leaks." in told
    assert "fault  business/facts.md:14" in told and "Did you mean domain?" in told
    assert "Gate C leaks." in desk.told("list")
    assert "left alone" in desk.told("export", exits=3)
    file.write_text(file.read_text().replace("domian", "domain"))
    assert "remembered  business/facts.md:13" in desk.told("import", "--as", "planner")
    assert "Unchanged entries: 3" in desk.told("import", "--as", "planner")
    desk.told("export")


def test_nobody_gets_anothers_memories_into_files(desk: Desk) -> None:
    desk.write("I like tables.")
    assert desk.data("export", "--as", "clerk")["memories"] == 0
    assert not (desk.home / "memory" / "desk" / "people").exists()


def test_what_holds_is_a_page_that_is_made_again(desk: Desk) -> None:
    desk.write("Gate B leaks.", "--whose", "business")
    desk.write("I like tables.", "--class", "preference")
    desk.data("cycle")
    pages = [desk.home / "memory" / "desk" / each for each in ("CURRENT.md", "people/planner/CURRENT.md")]
    said = [page.read_text() for page in pages]
    assert "- Gate B leaks." in said[0] and "tables" not in said[0] and "- I like tables." in said[1]
    for page in pages:
        page.unlink()
    desk.rebuild()
    assert [page.read_text() for page in pages] == said


def test_the_words_of_an_erased_one_leave_its_file_or_the_file_is_named(desk: Desk) -> None:
    first, second = desk.write("The canary is Zebedee."), desk.write("The parrot is Polly.")
    desk.told("cycle")
    desk.told("export", "--as", "planner")
    folder = desk.home / "memory" / "desk" / "people" / "planner"
    desk.told("erase", first, "--reason", "asked for")
    assert not [file for file in folder.rglob("*") if file.is_file() and "Zebedee" in file.read_text()]
    assert "Polly" in (folder / "facts.md").read_text()

    (folder / "facts.md").write_text((folder / "facts.md").read_text().replace("is Polly", "was Polly"))
    assert desk.told("erase", second, "--reason", "asked for", exits=1) == ""
    assert "Polly" in (folder / "facts.md").read_text(), "nobody writes over an edit"
    assert not (folder / "CURRENT.md").exists(), "nothing holds any more"
