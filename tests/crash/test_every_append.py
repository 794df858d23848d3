"""A whole process of an organisation, killed at every durable write, goes on as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.crash.lives import Lives, crash_points, open_lives
from tests.crash.person import Told
from tests.servers import MariaDb

pytestmark = pytest.mark.timeout(400)
FILE, SERVER = STORES = [
    pytest.param(kind, marks=pytest.mark.xdist_group(f"crash-{kind}")) for kind in ("sqlite", "mysql")
]
Point = tuple[str, int, bool]


@pytest.fixture(params=STORES)
def lives(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lives]:
    with ExitStack() as open_:
        url = ""
        if request.param == "mysql":
            server = open_.enter_context(MariaDb(tmp_path, durable=False))
            url = open_.enter_context(server.database())
        yield open_.enter_context(open_lives(tmp_path, url))


def before_each_commit(expected: Told, lives: Lives) -> list[Point]:
    """Every durable write; where it is a receipt or an intent, that is on either side of the effect."""
    return [(label, nth, False) for label, nth in crash_points(expected)]


def before_some_commits(expected: Told, lives: Lives) -> list[Point]:
    """Every third of them, and each of whoever has effects: every one takes two minutes on a server."""
    points = before_each_commit(expected, lives)
    return [point for at, point in enumerate(points) if at % 3 == 0 or point[0].startswith("payer:")]


def right_after_each_commit(expected: Told, lives: Lives) -> list[Point]:
    """The same, from the other side, where something happens before the next write begins: else both are one moment."""
    points = [(label, nth, True) for label, nth in crash_points(expected)]
    return [point for point in points if "effect.intended" in point[0] or point == points[-1]]


@pytest.mark.parametrize(
    ("lives", "points"),
    [
        pytest.param("sqlite", before_each_commit, marks=FILE.marks),
        pytest.param("mysql", before_some_commits, marks=SERVER.marks),
        pytest.param("mysql", before_each_commit, marks=[*SERVER.marks, pytest.mark.thorough]),
        pytest.param("sqlite", right_after_each_commit, marks=FILE.marks),
        pytest.param("mysql", right_after_each_commit, marks=SERVER.marks),
    ],
    indirect=["lives"],
)
def test_a_process_killed_at_any_write_is_carried_on_to_the_same_end(
    lives: Lives, points: Callable[[Told, Lives], list[Point]]
) -> None:
    expected = lives.undisturbed()
    doubts = 0
    for label, nth, after in points(expected, lives):
        key = lives.begin()
        died = lives.live(key, label=label, nth=nth, after=after)
        assert died.killed, f"{label} #{nth} was not reached: {died.error}"
        lives.next_life(1)

        ended = lives.live(key)

        assert ended.told, f"{label} #{nth}: {ended.error}"
        assert lives.faults(ended.told, expected, lives=2) == [], f"{label} #{nth}"
        doubts += len(ended.told.doubts)
    assert doubts == 1
    assert lives.audit() == []


@pytest.mark.parametrize(("path", "doubts"), [("/payments", []), ("/letters", ["desk.tell"])])
def test_a_process_killed_between_an_effect_and_its_answer_does_it_once(
    lives: Lives, path: str, doubts: list[str]
) -> None:
    expected = lives.undisturbed()
    key = lives.begin()
    assert lives.live(key, in_call=path).killed
    lives.next_life(1)

    ended = lives.live(key)

    assert ended.told, ended.error
    assert lives.faults(ended.told, expected, lives=2) == []
    assert ended.told.doubts == doubts
