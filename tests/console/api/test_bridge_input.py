"""Whatever a bridge sends, it is answered by what is described, and never by a fault of the program."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.console.api.stall import Stall, open_stall

pytestmark = pytest.mark.anyio
ULID = "01JB0000000000000000000RDR"
PATHS = [
    "/nodes", f"/nodes/{ULID}/beat", f"/nodes/{ULID}/leave",
    *(f"/nodes/{ULID}/orders/{ULID}/{word}" for word in ("next", "intent", "receipt", "give-back")),
]  # fmt: skip
SOUND: dict[str, Any] = {
    "name": "arm-9", "slots": 1, "labels": ["arm"], "capabilities": ["arm.look"], "asks_first": True,
    "session": "0" * 32, "holding": [f"order/{ULID}"], "taking": False, "wait_s": 0,
    "slot_id": f"slot/{ULID}", "fence": 1, "skip": [f"call/{ULID}"], "call_id": f"call/{ULID}",
    "arguments_sha256": "0" * 64, "outcome": "done", "output": {"n": 1}, "message": "So it was.",
    "category": "business", "happened": "no", "files": [{"name": "a.txt", "content_base64": "aGk="}],
}  # fmt: skip
FIELDS = {
    "nodes": ("name", "slots", "labels", "capabilities", "asks_first"),
    "beat": ("session", "holding", "taking", "wait_s"),
    "leave": ("session",),
    "next": ("session", "slot_id", "fence", "skip", "wait_s"),
    "intent": ("session", "slot_id", "fence", "call_id", "arguments_sha256"),
    "receipt": (
        "session",
        "slot_id",
        "fence",
        "call_id",
        "outcome",
        "output",
        "message",
        "category",
        "happened",
        "files",
    ),
    "give-back": ("session", "slot_id", "fence"),
}
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20) | st.sampled_from(["", "\0", "order/", f"order/{ULID}", "x" * 5_000, "\ud7ff", "-1", 2**63]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.fixture
async def stall(tmp_path: Path) -> AsyncIterator[Stall]:
    async with open_stall(tmp_path) as stall:
        yield stall


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.rpartition("/")[2])
async def test_sound_words_about_what_is_not_there_are_refused_by_name(stall: Stall, path: str) -> None:
    said = {name: SOUND[name] for name in FIELDS[path.rpartition("/")[2]]}
    answer = await stall.client().post(path, json=said)

    expected = (201, None) if path == "/nodes" else (409, "SESSION_OVER" if "orders" not in path else "STALE_BRIDGE")
    assert (answer.status_code, answer.json().get("code")) == expected


async def test_odd_words_are_refused_and_nothing_breaks(stall: Stall) -> None:
    client = stall.client()
    bodies: list[tuple[str, Any]] = []

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(PATHS), st.data())
    def collect(path: str, data: st.DataObject) -> None:
        said = {name: SOUND[name] for name in FIELDS[path.rpartition("/")[2]]}
        for name in data.draw(st.lists(st.sampled_from([*said, "mood"]), max_size=2)):
            said[name] = data.draw(ODD)
        bodies.append((path, data.draw(st.just(said) | ODD)))

    collect()
    for path, body in bodies:
        answer = await client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert answer.status_code < 500, (path, body, answer.text)
        if answer.status_code >= 400:
            told = answer.json()
            assert answer.headers["content-type"] == "application/problem+json" and told["code"], (path, body)


@pytest.mark.parametrize("fence", [2**63, "1", 1.0, True])
async def test_a_fence_that_is_no_stored_number_is_named(stall: Stall, fence: object) -> None:
    said = {"session": "0" * 32, "slot_id": SOUND["slot_id"], "fence": fence}

    answer = await stall.client().post(f"/nodes/{ULID}/orders/{ULID}/next", json=said)

    assert (answer.status_code, "fence" in answer.text) == (422, True)


async def test_the_largest_fence_is_no_fault(stall: Stall) -> None:
    said = {"session": "0" * 32, "slot_id": SOUND["slot_id"], "fence": 2**63 - 1}

    answer = await stall.client().post(f"/nodes/{ULID}/orders/{ULID}/next", json=said)

    assert (answer.status_code, answer.json()["code"]) == (409, "STALE_BRIDGE")
