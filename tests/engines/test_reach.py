"""A Ray that runs is reached before work begins, and one that demands a token says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.workforce.errors import RayUnavailable
from agents.workforce.ray.reach import require_answer


def test_a_ray_that_answers_is_used(ray_cluster: Any) -> None:
    require_answer(ray_cluster.address)


def test_without_the_token_it_says_where_that_is_found(
    ray_cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)

    with pytest.raises(RayUnavailable, match=r"copy ~/\.ray/auth_token .* RAY_AUTH_MODE=token"):
        require_answer(ray_cluster.address)
