from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.skills.reading import ReadSkill, parts_of
from runtime.canonical import to_bytes
from runtime.capabilities.port import CallContext
from runtime.errors import InvalidArguments
from tests.fakes.orders import an_order

LONG = "".join(f"- Rule {number}: 每条规则都要读。\n" for number in range(400))
READ = ReadSkill({"review": {"SKILL.md": "Read the list.", "references/list.md": LONG}, "empty": {"SKILL.md": ""}})


async def read(**arguments: Any) -> Any:
    context = CallContext(order=an_order(), step="follow", key="k", attempt=1, now=datetime.now(UTC))
    return (await READ.call({"file": "SKILL.md", "part": 1, **arguments}, context)).output


@pytest.mark.anyio
async def test_the_instructions_come_with_the_names_of_the_other_files() -> None:
    assert await read(skill="review") == {
        "text": "Read the list.", "part": 1, "parts": 1, "files": ["SKILL.md", "references/list.md"],
    }  # fmt: skip


@pytest.mark.anyio
async def test_a_long_file_is_read_part_by_part_and_whole_in_the_end() -> None:
    first = await read(skill="review", file="references/list.md")
    rest = [await read(skill="review", file="references/list.md", part=n) for n in range(2, first["parts"] + 1)]

    assert first["parts"] > 1
    assert "".join(part["text"] for part in (first, *rest)) == LONG
    assert all(len(to_bytes(part)) < 8_000 for part in (first, *rest))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"skill": "reveiw"}, "There is: review"),
        ({"skill": "review", "file": "references/lists.md"}, "There is: references/list.md"),
        ({"skill": "review", "file": "../../org.yaml"}, "has no text file"),
        ({"skill": "review", "part": 2}, "has 1 parts"),
        ({"skill": "review", "part": 0}, "there is no part 0"),
    ],
)
async def test_what_is_not_there_is_told_with_what_is(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArguments, match=told):
        await read(**arguments)


@pytest.mark.anyio
async def test_empty_instructions_are_one_empty_part() -> None:
    assert (await read(skill="empty"))["parts"] == 1


@given(st.text(alphabet=st.sampled_from("a字😀\n"), max_size=30), st.integers(1, 900))
def test_the_parts_of_any_text_are_the_text_and_none_is_too_large(text: str, times: int) -> None:
    parts = list(parts_of(text * times))

    assert "".join(parts) == text * times
    assert all(len(part.encode()) <= 4_000 for part in parts)
