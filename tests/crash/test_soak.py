"""A few runs of the soak, so that it works when it is needed; `make crash-soak` makes 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.soak import open_soak

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("crash-soak")]


def test_runs_come_to_their_end_while_everything_around_them_dies(tmp_path: Path) -> None:
    with open_soak(tmp_path, seed=3) as soak:
        wrong = [fault for number in range(6) for fault in soak.run(number)]

        assert wrong == []
        assert soak.unheard() == []
        assert soak.lives.audit() == []
