"""The process of 30 steps of `bench/context.py`: quick enough to hold what is promised at every change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    command = ["bench/context.py", "--json", "--lengths", "30", "--parts", "tokens", "needles", "prefix"]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (process,) = json.loads(done.stdout)["processes"]
    return dict(process)


def test_thirty_steps_take_a_fraction_of_what_an_accumulated_conversation_takes(measured: dict[str, Any]) -> None:
    bill = measured["tokens"]

    assert bill["fewer_than_accumulated"] >= 0.6
    assert bill["fewer_than_trimmed"] > 0
    assert bill["engine"]["last_over_third"] <= 1.3


def test_requests_of_a_step_begin_as_the_one_before_did(measured: dict[str, Any]) -> None:
    assert measured["prefix"]["engine"]["mean"] >= 0.9


def test_more_can_be_got_at_than_where_old_messages_are_trimmed(measured: dict[str, Any]) -> None:
    found = measured["needles"]["reachable"]

    assert found["accumulated"] == 1
    assert found["engine"] > found["trimmed"]
