"""Lint: each fault with file and line; what is only listed fails nothing."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge.body import Body, read_body, written_body
from memory.knowledge.faults import KnowledgeFault
from memory.knowledge.lines import Entry, index_lines, written
from memory.knowledge.lint import lint
from memory.knowledge.tree import read_tree
from runtime.settings import MemorySettings

TODAY = date(2026, 11, 30)
FIELDS = "---\ntitle: Snow\nupdated: 2026-11-01\nverified: 2026-11-01\nconfidence: 0.8\n---\n"
GOOD = {
    "knowledge/RESIDENT.md": "# In every turn\n\n- Say the day.\n- [Airports](airports/INDEX.md) — about airports\n",
    "knowledge/airports/INDEX.md": "# Airports\n\n- [Snow](snow.md) — it snows\n",
    "knowledge/airports/snow.md": f"{FIELDS}\nNewark closes its short runway first when it snows.\n",
}


def found(changes: dict[str, str], today: date = TODAY) -> list[tuple[str, int, str]]:
    texts = {path: text for path, text in {**GOOD, **changes}.items() if text}
    return [(each.file, each.line, each.what) for each in lint(texts, today, MemorySettings())]


def index(*lines: str) -> dict[str, str]:
    return {"knowledge/airports/INDEX.md": "\n".join(["# Airports", "", *lines])}


def test_a_folder_in_order_has_no_faults() -> None:
    assert found({}) == []


@pytest.mark.parametrize(
    ("changes", "file", "line", "what"),
    [
        (index("- [Snow](snow.md)"), "knowledge/airports/INDEX.md", 3, "does not say when"),
        (index(f"- [Snow](snow.md) — {'x' * 61}"), "knowledge/airports/INDEX.md", 3, "in 61 characters"),
        (index(f"- [{'S' * 120}](snow.md) — snow"), "knowledge/airports/INDEX.md", 3, "characters on average"),
        (index("- [Snow](snow.md) — snow", "Some prose."), "knowledge/airports/INDEX.md", 4, "no entry"),
        (index("- [Snow](snow.md) when snow"), "knowledge/airports/INDEX.md", 3, "A dash comes before"),
        (index("- [Snow](snow.md) — snow", "- [Ice](ice.md) — ice"), "knowledge/airports/INDEX.md", 4, "is not there"),
        (index("- [Snow](snow.md) — a", "- [S](snow.md) — b"), "knowledge/airports/INDEX.md", 4, "an entry already"),
        (index("- [Out](../../org.yaml) — x"), "knowledge/airports/INDEX.md", 3, "leads out"),
        (index("- [Out](/etc/passwd) — x"), "knowledge/airports/INDEX.md", 3, "leads out"),
        (index(), "knowledge/airports/snow.md", 1, "No index leads here"),
        (
            {"knowledge/sales/INDEX.md": "- [Snow](../airports/snow.md) — snow"},
            "knowledge/sales/INDEX.md", 1, "another domain",
        ),
        ({"knowledge/RESIDENT.md": "- Say the day.\n\nWe like snow."}, "knowledge/RESIDENT.md", 3, "nothing else"),
        ({"knowledge/RESIDENT.md": f"- {'x' * 111}"}, "knowledge/RESIDENT.md", 1, "111 characters"),
        ({"knowledge/airports/snow.md": "No fields."}, "knowledge/airports/snow.md", 1, "has no fields"),
        ({"knowledge/airports/snow.md": FIELDS}, "knowledge/airports/snow.md", 7, "says nothing"),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("0.8", "8") + "x"},
            "knowledge/airports/snow.md", 5, "from 0 to 1",
        ),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("verified: 2026-11-01", "verified: lately") + "x"},
            "knowledge/airports/snow.md", 4, "is a date",
        ),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("updated: 2026-11-01\n", "") + "x"},
            "knowledge/airports/snow.md", 1, "`updated` is missing",
        ),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("title", "tilte") + "x"},
            "knowledge/airports/snow.md", 2, "no field `tilte`",
        ),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("title: Snow", "title: [") + "x"},
            "knowledge/airports/snow.md", 4, "cannot be read",
        ),
        (
            {"knowledge/airports/snow.md": FIELDS.replace("verified: 2026", "verified: 2027") + "Snow."},
            "knowledge/airports/snow.md", 1, "in the future",
        ),
        ({"knowledge/Bad Domain/LOG.md": "# x"}, "knowledge/Bad Domain/LOG.md", 0, "no name of a domain"),
        ({"knowledge/a/b/INDEX.md": "# Deep"}, "knowledge/a/b/INDEX.md", 0, "too deep"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_file_and_line(changes: dict[str, str], file: str, line: int, what: str) -> None:
    told = found(changes)
    assert [each for each in told if each[:2] == (file, line) and what in each[2]], told


def test_one_fact_stands_in_one_place() -> None:
    again = f"{FIELDS}\nSomething else.\nThen: newark closes its short  RUNWAY first when it snows!\n".replace(
        "Then: ", ""
    )
    told = found(
        index("- [Snow](snow.md) — snow", "- [Ice](ice.md) — ice") | {"knowledge/airports/ice.md": again}
    )  # fmt: skip
    assert told == [
        (
            "knowledge/airports/snow.md", 8,
            "This stands in knowledge/airports/ice.md:9 already: “newark closes its short runway first when it snows”.",
        )
    ]  # fmt: skip


def test_a_chinese_fact_stands_in_one_place() -> None:
    changes = index("- [雪](snow.md) — 下雪", "- [冰](ice.md) — 结冰") | {
        "knowledge/airports/snow.md": f"{FIELDS}\n纽瓦克机场下雪时先关闭短跑道。\n",
        "knowledge/airports/ice.md": f"{FIELDS}\n请注意。纽瓦克机场下雪时先关闭短跑道。\n",
    }
    assert [each[0] for each in found(changes)] == ["knowledge/airports/snow.md"]


def test_what_nobody_verified_for_ninety_days_is_listed_and_fails_nothing() -> None:
    texts = dict(GOOD)
    day = date(2026, 11, 1)
    assert lint(texts, day + timedelta(days=90), MemorySettings()) == []
    [listed] = lint(texts, day + timedelta(days=91), MemorySettings())
    assert not listed.grave and "91 days" in listed.what


def test_all_faults_are_told_at_once() -> None:
    assert len(found(index("Prose.", "- [Gone](gone.md)", "- [Snow](snow.md)"))) >= 4


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\x85"), max_size=60)


@given(_TEXT.filter(str.strip), _TEXT.filter(str.strip))
def test_an_entry_is_read_as_it_was_written(title: str, when: str) -> None:
    faults: list[KnowledgeFault] = []
    line = written(title, "knowledge/a/b.md", f"x{when}", file="knowledge/a/INDEX.md")
    [entry] = index_lines("knowledge/a/INDEX.md", line, faults)
    plain = " ".join(title.split())
    assert entry == Entry(
        plain, "knowledge/a/b.md", " ".join(f"x{when}".split()), "knowledge/a/INDEX.md", 1, len(line)
    )  # fmt: skip
    assert faults == []


@given(_TEXT, _TEXT, st.dates(), st.floats(0, 1), st.lists(st.from_regex(r"[a-z-]{1,9}", fullmatch=True), max_size=3))
def test_a_body_is_read_as_it_was_written(
    title: str, text: str, day: date, confidence: float, conflicts: list[str]
) -> None:
    body = Body(
        "knowledge/b.md", text.strip("\n"), 0, day, day, confidence, conflicts=tuple(conflicts), title=title, when=title
    )  # fmt: skip
    faults: list[KnowledgeFault] = []
    read = read_body("knowledge/b.md", written_body(body), faults)
    assert faults == [] and read is not None
    assert (read.text, read.when, read.updated, read.confidence, tuple(read.conflicts)) == (
        body.text, title, day, confidence, tuple(conflicts),
    )  # fmt: skip


@given(st.dictionaries(st.sampled_from([*GOOD, "knowledge/x/y/z.md", "knowledge/LOG.md"]), st.text(max_size=200)))
def test_any_text_is_read_or_told_and_breaks_nothing(texts: dict[str, str]) -> None:
    tree, faults = read_tree(texts)
    lint(texts, TODAY, MemorySettings())
    assert all(each.file in texts for each in faults)
    assert set(tree.bodies) <= set(texts)
