"""What a memory says comes back from a file exactly, whatever it says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import MemoryId, MemoryRecord
from memory.files.entries import read_entries, write_entries
from memory.files.fields import changed_fields, shown_fields
from memory.files.places import safe_name
from memory.records.book import checked
from runtime.canonical import clean_text

_PIECES = [
    "-->", "<!--", "---", "\n", "\n\n", "# ", "- domain: x", "\\", '"', "[", ", ", " ", "\t", "\r", "\r\n", "\0",
    "\u2028", "\ufeff", "<!-- memory 01J9ZZZZZZZZZZZZZZZZZZZZZZ version 1 seen 1 1 -->", "<!-- silicon memory:", "记住",
]  # fmt: skip
words = st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), min_size=1, max_size=12).map(
    lambda parts: clean_text("".join(parts) or "-")[:1_000]
)


def a_record(text: str, **fields: object) -> MemoryRecord:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    told = {
        "memory_id": MemoryId.new(), "version": 3, "organisation": "desk", "kind": "semantic", "memory_class": "fact",
        "holder": {"kind": "person", "name": "ann"}, "text": text, "importance": 0.5, "valid_from": now,
        "created_at": now, "changed_at": now, "accessed_at": now, "written_by": "ann",
    }  # fmt: skip
    return checked(told | fields)


@settings(max_examples=50)
@given(st.lists(words, min_size=1, max_size=3), words.map(lambda text: text[:200]), st.lists(words, max_size=2))
def test_whatever_is_remembered_reads_back_the_same(texts: list[str], subject: str, entities: list[str]) -> None:
    records = [a_record(text, subject=subject, value=subject, entities=tuple(entities)) for text in texts]
    for newline in ("\n", "\r\n"):
        read = read_entries(write_entries("Facts of ann", records).replace("\n", newline))
        assert read.faults == []
        assert [entry.text for entry in read.entries] == texts
        for entry, record in zip(read.entries, records, strict=True):
            assert (entry.memory_id, entry.version) == (record.memory_id, 3)
            assert changed_fields(shown_fields(record), entry.fields) == {}


def test_a_plain_entry_can_be_read_aloud() -> None:
    file = write_entries("Facts of ann", [a_record("It snows.\n\n- domain: is no field here", domain="freight")])
    assert "\nIt snows.\n\n\\- domain: is no field here\n\n- domain: freight\n- importance: 0.5\n" in file


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("Words.\n\n- domian: freight\n", 3, "Did you mean domain?"),
        ("Words.\n\n- importance: much\n", 3, "importance cannot be read"),
        ("Words.\n\n- importance: 7\n", 3, "from 0 to 1"),
        ("Words.\n\n- domain: a\n- domain: b\n", 4, "stands twice"),
        ('Words.\n\n- value: "half\n', 3, "value cannot be read"),
        ("Words.\n\n- names: [1]\n", 3, "names cannot be read"),
        ("Words.\n\n- kind: odd\n", 3, "semantic"),
        ("Words.\n\n- domain: a\nMore words.\n", 4, "begins another one"),
        ("Words.\n\n<!-- memory 01J version 3 seen 1 1 -->\n", 3, "mark was changed"),
        (f"Words.\n\n<!-- memory {'Z' * 26} version 3 seen 1 1 -->\n", 3, "mark was changed"),
        ('Words.\n\n- text: "other"\n', 1, "it can have one"),
        ("- domain: a\n", 1, "no words"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line_and_others_are_read(content: str, line: int, says: str) -> None:
    read = read_entries(f"{content}\n---\n\nAnother.\n")
    assert [(fault.line, says in fault.what) for fault in read.faults] == [(line, True)], read.faults
    assert [entry.text for entry in read.entries] == ["Another."]


def test_folders_of_different_names_differ_and_lead_nowhere_else() -> None:
    names = ["ann", "Ann", "../ann", "ann/", "a" * 200, "a" * 199, "", ".", "..", "安", "ann-0123456789ab", "con\0"]
    safe = [safe_name(name) for name in names]
    assert len({*safe}) == len(names)
    assert safe[0] == "ann"
    assert not [name for name in safe if "/" in name or name.startswith(".") or len(name) > 80]
