"""Every road to a capability leads through the router, which asks the rules: nothing else calls one."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("runtime", "memory", "governance", "agents", "cluster", "console")
ROUTER = "runtime/capabilities/router.py"


def files_with(pattern: str) -> set[str]:
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    found = re.compile(pattern)
    return {str(file.relative_to(ROOT)) for file in files if found.search(file.read_text(encoding="utf-8"))}


def test_only_the_router_calls_a_capability_and_only_the_wiring_hands_it_any() -> None:
    assert files_with(r"\bcapability\.call\(") == {ROUTER}
    assert files_with(r"from runtime\.capabilities\.registry import") <= {
        ROUTER,
        "console/wiring.py",
        "runtime/capabilities/__init__.py",
    }


def test_it_asks_the_rules_before_it_calls() -> None:
    source = (ROOT / ROUTER).read_text(encoding="utf-8")
    call = source.index("    async def call(")
    assert source.index("_require_allowed(", call) < source.index("_bounded(", call)
