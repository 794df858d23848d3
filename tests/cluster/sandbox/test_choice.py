from __future__ import annotations

import pytest

from cluster import driver_for
from cluster.errors import SandboxBroken
from cluster.sandbox import Lack, bubblewrap
from cluster.sandbox.inside import landlock
from runtime.settings import SlotSettings


def works(monkeypatch: pytest.MonkeyPatch, *, bubblewrap_says: str = "", landlock_abi: int = 7) -> None:
    monkeypatch.setattr(bubblewrap, "why_not", lambda: bubblewrap_says)
    monkeypatch.setattr(landlock, "abi", lambda: landlock_abi)


@pytest.mark.parametrize(
    ("bubblewrap_says", "landlock_abi", "chosen"),
    [("", 7, "bubblewrap"), ("not installed", 7, "rlimits+landlock"), ("not installed", 0, "rlimits")],
)
def test_the_strongest_that_works_is_taken(
    monkeypatch: pytest.MonkeyPatch, bubblewrap_says: str, landlock_abi: int, chosen: str
) -> None:
    works(monkeypatch, bubblewrap_says=bubblewrap_says, landlock_abi=landlock_abi)

    assert driver_for(SlotSettings())(0).name == chosen


@pytest.mark.parametrize("named", ["bubblewrap", "rlimits+landlock", "rlimits"])
def test_the_driver_that_the_settings_name_is_taken(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    works(monkeypatch)

    assert driver_for(SlotSettings.model_validate({"driver": named}))(0).name == named


@pytest.mark.parametrize(("named", "why"), [("bubblewrap", "not installed"), ("rlimits+landlock", "no Landlock")])
def test_a_named_driver_that_does_not_work_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, named: str, why: str
) -> None:
    works(monkeypatch, bubblewrap_says="not installed", landlock_abi=0)

    with pytest.raises(SandboxBroken, match=rf"slot\.driver is {named.replace('+', '.')}.*{why}"):
        driver_for(SlotSettings.model_validate({"driver": named}))


@pytest.mark.parametrize(
    ("abi", "missing"),
    [
        (0, {Lack.READING, Lack.WRITING, Lack.OTHER_PROGRAMS}),
        (2, {Lack.WRITING, Lack.OTHER_PROGRAMS}),
        (5, {Lack.OTHER_PROGRAMS}),
        (7, set()),
    ],
)
def test_what_landlock_cannot_hold_follows_from_the_kernel(
    monkeypatch: pytest.MonkeyPatch, abi: int, missing: set[Lack]
) -> None:
    works(monkeypatch, bubblewrap_says="not installed", landlock_abi=abi)
    monkeypatch.setattr("os.geteuid", lambda: 1_000)

    lacks = set(driver_for(SlotSettings())(0).cannot_enforce)

    assert lacks & {Lack.READING, Lack.WRITING, Lack.OTHER_PROGRAMS} == missing
