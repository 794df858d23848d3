"""`silicon memory` as people use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main
from tests.console.desks import make_organisation


class Desk:
    """The desk, and commands about what it remembers."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = str(folder), capsys
        self.home = folder.parent / "home"

    def told(self, command: str, *arguments: str, exits: int = 0) -> str:
        assert main(["memory", command, self.folder, *arguments]) == exits
        return self._capsys.readouterr().out

    def failed(self, command: str, *arguments: str) -> str:
        assert main(["memory", command, self.folder, *arguments]) == 1
        return self._capsys.readouterr().err

    def checked(self) -> str:
        assert main(["check", self.folder]) == 1
        return "".join(self._capsys.readouterr())

    def data(self, command: str, *arguments: str, exits: int = 0) -> Any:
        return json.loads(self.told(command, *arguments, "--json", exits=exits))

    def rebuild(self) -> str:
        assert main(["memory", "rebuild"]) == 0
        return self._capsys.readouterr().out

    def write(self, text: str, *more: str, exits: int = 0) -> str:
        written = self.data("write", text, "--as", "planner", *more, exits=exits)
        return str(written["memory"]["record"]["memory_id"]).partition("/")[2]


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    return Desk(make_organisation(tmp_path / "desk"), capsys)


def test_a_memory_is_written_found_corrected_and_taken_back(desk: Desk) -> None:
    ulid = desk.write("Newark closes its short runway in snow.", "--whose", "business")
    assert "runway" in desk.told("search", "short runway snow")
    assert "It closes both." in desk.told("correct", ulid[-6:], "--text", "It closes both.", "--reason", "seen")
    assert "short runway" in desk.told("undo", ulid[-6:])
    shown = desk.told("show", ulid)
    assert all(word in shown for word in ("written", "read", "corrected", "reverted", "seen"))
    assert desk.data("withdraw", ulid)["memory"]["record"]["state"] == "withdrawn"
    assert desk.told("list") == "No memories.\n"
    assert "Newark" in desk.told("list", "--state", "withdrawn")
    assert desk.data("restore", ulid)["memory"]["record"]["state"] == "active"


def test_what_contradicts_a_decision_waits_with_exit_code_three_until_it_is_confirmed(desk: Desk) -> None:
    about = ("--says", "freight", "is bought from")
    desk.write("We buy from Oak.", "--class", "decision", *about, "Oak")
    ulid = desk.write("We buy from Elm.", *about, "Elm", exits=3)
    assert "Oak" in desk.told("list") and "Elm" not in desk.told("list")
    assert "waits for a person" in desk.told("list", "--state", "disputed")
    assert "Elm" in desk.told("confirm", ulid)
    assert "Oak" not in desk.told("list")


def test_the_words_of_an_erased_one_are_in_no_file(desk: Desk, tmp_path: Path) -> None:
    ulid = desk.write("The canary is called Zebedee.")
    desk.told("search", "canary")
    desk.told("correct", ulid, "--text", "Zebedee is the canary's name.")
    desk.told("search", "canary")
    vectors = len([*tmp_path.rglob("*.f32")])
    desk.told("erase", ulid, exits=2)
    assert "gone for good" in desk.told("erase", ulid, "--reason", "asked for")
    assert len([*tmp_path.rglob("*.f32")]) in (0, vectors - 2), "where there is an embedder, one of each version"
    files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"Zebedee" in path.read_bytes()]


def test_whoever_erases_what_an_employee_wrote_is_told_which_execution_still_tells_of_it(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    org = Path(desk.folder) / "org.yaml"
    org.write_text(org.read_text().replace("title: Head,", "title: Head, can: [memory_write],"))
    plan = Path(desk.folder) / "skills" / "choose-day" / "plan.yaml"
    plan.write_text("steps:\n  - {id: note, use: memory_write, with: {text: The gate leaks in rain.}}\n")
    assert main(["run", desk.folder, "note it", "--skill", "choose-day", "--json"]) == 0
    execution = json.loads(capsys.readouterr().out)["execution_id"]
    [row] = desk.data("list")["memories"]
    told = desk.told("erase", row["record"]["memory_id"][-8:], "--reason", "asked for")
    assert "gone for good" in told and execution in " ".join(told.split())


def test_the_table_can_be_made_again_and_a_day_has_one_cycle(desk: Desk) -> None:
    desk.write("Gate B leaks.")
    assert "One memory" in desk.rebuild()
    assert "leaks" in desk.told("list")
    assert desk.data("cycle")["held"] and not desk.data("cycle")["held"]
    assert desk.told("remember").startswith("Nothing was said")


@pytest.mark.parametrize(
    ("arguments", "exits", "says"),
    [
        (("show", "nothing-like-it"), 2, "No memory is called"),
        (("write", ""), 2, "must not be empty"),
        (("write", " \n\t"), 2, "must not be empty"),
        (("write", "x", "--whose", "nobody"), 2, "It is `me`, `business`"),
        (("correct", "whatever"), 2, "Say what changes"),
        (("list", "--whose", "me", "--as", "stranger"), 2, "Nobody here is called stranger"),
    ],
)
def test_what_is_wrong_is_told_in_words(desk: Desk, arguments: tuple[str, ...], exits: int, says: str) -> None:
    command, *more = arguments
    code = main(["memory", command, desk.folder, *more])
    told = desk._capsys.readouterr().err
    assert (code == exits, says in told) == (True, True), (code, told)
    assert "Traceback" not in told


def test_what_is_remembered_is_told_as_a_whole_and_told_anew_only_after_a_write(desk: Desk) -> None:
    desk.write("Gate B leaks.", "--whose", "business")
    desk.write("I like tables.", "--class", "preference")
    desk.write("Oak is slow.", "--whose", "business", "--domain", "purchasing")
    assert "nothing was consolidated yet" in desk.told("auto", "--as", "planner")
    assert "told in 1 lines" in desk.told("consolidate", "--as", "planner")
    [page] = desk.data("auto", "--as", "planner")["pages"]
    assert (page["kind"], page["left_out"]) == ("global", 0)
    assert page["text"] == "## Preferences\n- I like tables.\n\n## Environment\n- Gate B leaks."
    both = desk.told("auto", "--as", "planner", "--domain", "purchasing")
    assert both.index("- Oak is slow.") < both.index("- Gate B leaks.")
    assert "tables" not in desk.told("auto", "--as", "clerk")
    assert "## Preferences\n- I like tables." in desk.told("auto", "--as", "planner")

    desk.write("Ask twice.", "--whose", "head")
    assert "Ask twice." in desk.told("auto", "--as", "planner", "--with", "head")
    assert desk.told("auto", "--as", "clerk", "--with", "head", exits=2) == ""

    outcomes = [shelf["outcome"] for shelf in desk.data("consolidate", "--as", "planner")["shelves"]]
    assert outcomes == ["told", *["unchanged"] * 3]
    folder = desk.home / "memory" / "desk"
    file = folder / "people" / "planner" / "AUTO-MEMORY.md"
    assert "- I like tables." in file.read_text()
    file.unlink()
    desk.rebuild()
    assert "- I like tables." in file.read_text()


def test_the_words_of_an_erased_one_are_in_no_page(desk: Desk) -> None:
    written = desk.write("The canary is Zebedee.")
    desk.told("consolidate", "--as", "planner")
    desk.told("erase", written, "--reason", "asked for")
    assert "Zebedee" not in desk.told("auto", "--as", "planner")
    files = [file for file in desk.home.rglob("*") if file.is_file()]
    assert not [file for file in files if b"Zebedee" in file.read_bytes()]


def test_a_profile_is_shown_with_its_reasons_corrected_and_forgotten(desk: Desk) -> None:
    assert "Nothing is known of planner" in desk.told("profile", "--as", "planner")
    told = desk.told("profile-set", "format", "table", "--as", "planner")
    assert "format  table  set by oneself" in told and "Put figures into a table." in told
    assert "Nothing is known of clerk" in desk.told("profile", "--as", "clerk")
    assert desk.told("profile-set", "topic", "the manager", "--as", "planner", exits=2) == ""
    assert desk.data("profile-forget", "format", "table", "--as", "planner")["traits"] == []
    desk.told("profile-set", "length", "short", "--as", "planner")
    assert desk.data("profile-forget", "--all", "--as", "planner")["traits"] == []
    assert desk.told("profile-forget", "--as", "planner", exits=2) == ""


def test_a_person_is_erased_once_somebody_who_may_is_sure(desk: Desk) -> None:
    desk.write("The canary is Zebedee.")
    desk.told("profile-set", "topic", "zebedee", "--as", "planner")
    desk.told("consolidate", "--as", "planner")
    desk.told("cycle")
    desk.told("search", "canary", "--as", "planner")
    assert "would be erased: 1 memories" in desk.told("erase-person", "planner", "--as", "planner")
    assert desk.told("erase-person", "planner", "--yes", "--as", "planner", exits=2) == ""
    assert "may not erase" in desk.failed("erase-person", "planner", "--yes", "--reason", "x", "--as", "clerk")
    view = desk.data("erase-person", "planner", "--yes", "--reason", "asked for", "--as", "planner")
    assert (view["done"], view["memories"]) == (True, 1)
    files = [file for file in desk.home.rglob("*") if file.is_file()]
    assert not [file for file in files if b"ebedee" in file.read_bytes()]
