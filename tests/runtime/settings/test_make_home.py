"""The home folder belongs to its owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

from runtime.settings.home import make_home


def test_a_new_home_is_for_its_owner_alone_and_an_existing_one_is_left_as_it_is(tmp_path: Path) -> None:
    new, old = tmp_path / "deep" / "new", tmp_path / "old"
    old.mkdir(mode=0o755)

    make_home(new)
    make_home(old)

    assert stat.S_IMODE(new.stat().st_mode) == 0o700
    assert stat.S_IMODE(old.stat().st_mode) == 0o755
