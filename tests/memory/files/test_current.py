"""What holds today, on one page for each holder."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contracts import MemoryClass
from memory.files.current import write_current
from memory.files.places import current_file
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BUSINESS, a_draft
from tests.memory.files.conftest import HOLDERS, Files

pytestmark = pytest.mark.anyio


async def test_a_page_says_what_holds_and_nothing_of_others(files: Files, clock: HandClock) -> None:
    await files.book.add(a_draft("Never on\nSundays.", memory_class=MemoryClass.RULE), by="ann")
    await files.book.add(a_draft("Faint.", memory_class=MemoryClass.FACT, importance=0.1), by="ann")
    await files.book.add(a_draft("A task.", memory_class=MemoryClass.TASK, importance=1), by="ann")
    for text, importance in (("Weak.", 0.5), ("Strong.", 0.9)):
        await files.book.add(
            a_draft(text, memory_class=MemoryClass.FACT, importance=importance, domain="freight"), by="ann"
        )
    await files.book.add(a_draft("Of Ann.", holder=ANN, memory_class=MemoryClass.PREFERENCE, importance=0.3), by="ann")

    async def write(*goals: str) -> int:
        return await write_current(files.book, HOLDERS, files.root, clock.now(), MemorySettings(), goals=goals)

    assert await write("Load\nplan") == 2
    page = current_file(files.root, BUSINESS).read_text().partition("-->\n\n")[2]
    assert page == (
        "## Rules\n\n- Never on Sundays.\n\n## Facts\n\n- (freight) Strong.\n- (freight) Weak.\n\n"
        "## Goals in progress\n\n- Load plan\n"
    )
    before = current_file(files.root, BUSINESS).stat()
    assert await write("Load\nplan") == 2
    assert current_file(files.root, BUSINESS).stat() == before, "the same is not written again"
    assert "Of Ann." in current_file(files.root, ANN).read_text()
    clock.advance(timedelta(days=120).total_seconds())
    assert await write() == 1
    assert not current_file(files.root, ANN).exists(), "what has faded holds no more"
