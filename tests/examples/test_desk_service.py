from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SERVICE = Path(__file__).parents[2] / "examples" / "three_airports" / "desk" / "service.py"
NOTICE = {"day": "2013-02-08", "airports": ["EWR", "JFK"], "cause": "weather"}
BAD = {"origin": "JFK", "hour": "2013-02-12T03:00:00", "field": "wind_speed", "reason": "1,048 mph is impossible"}


class Desk:
    """The service in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = {"PATH": os.defpath, "SERVICE_TOKEN": "t", "SERVICE_DATA": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, str(SERVICE), *arguments], stdout=subprocess.PIPE, env=environment
        )
        assert self.process.stdout is not None
        self.address = urlsplit(json.loads(self.process.stdout.readline())["address"])

    def ask(
        self, method: str, path: str, body: Any = None, *, key: str | None = "k1", token: str = "t"
    ) -> tuple[int, Any, bool]:
        connection = HTTPConnection(self.address.hostname or "", self.address.port, timeout=60)
        headers = {"Authorization": f"Bearer {token}", **({"Idempotency-Key": key} if key else {})}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        answer = response.status, json.loads(response.read()), response.headers.get("Idempotent-Replay") == "true"
        connection.close()
        return answer

    def done(self, path: str) -> dict[str, int]:
        counted: dict[str, int] = self.ask("GET", "/counts")[1]["calls"][path]
        return counted

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        with self.process:
            return self.process.wait(timeout=60)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    started = Desk(tmp_path)
    yield started
    if started.process.poll() is None:
        started.end(signal.SIGKILL)


def test_a_call_is_carried_out_and_counted(desk: Desk) -> None:
    status, answer, replayed = desk.ask("POST", "/notices", NOTICE)

    assert (status, answer["id"], replayed) == (201, "notice-1", False)
    assert desk.done("/notices") == {"received": 1, "done": 1, "replayed": 0, "refused": 0}


def test_twenty_equal_calls_at_once_have_one_effect(desk: Desk) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: desk.ask("POST", "/notices", NOTICE), range(20)))

    assert len({answer[1]["id"] for answer in answers}) == 1
    assert sorted(answer[0] for answer in answers) == [200] * 19 + [201]
    assert desk.done("/notices") == {"received": 20, "done": 1, "replayed": 19, "refused": 0}


def test_a_key_remembers_its_effect_after_kill_9(desk: Desk, tmp_path: Path) -> None:
    first = desk.ask("POST", "/notices", NOTICE)
    desk.end(signal.SIGKILL)
    again = Desk(tmp_path)
    answer = again.ask("POST", "/notices", NOTICE)
    found = again.ask("GET", "/effects/k1")
    again.end(signal.SIGTERM)

    assert answer == (200, first[1], True)
    assert found[:2] == (200, first[1])


def test_a_key_of_another_request_is_refused(desk: Desk) -> None:
    desk.ask("POST", "/notices", NOTICE)

    assert desk.ask("POST", "/notices", {**NOTICE, "cause": "carrier"})[0] == 409


def test_a_reading_marked_bad_can_be_marked_good_again(desk: Desk) -> None:
    desk.ask("POST", "/readings/bad", BAD, key="a")
    marked = desk.ask("GET", "/counts")[1]["readings_marked_bad"]
    desk.ask("POST", "/readings/good", {name: BAD[name] for name in ("origin", "hour", "field")}, key="b")

    assert (marked, desk.ask("GET", "/counts")[1]["readings_marked_bad"]) == (1, 0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({**NOTICE, "airports": ["BOS"]}, "airports must be one of"),
        ({**NOTICE, "day": "yesterday"}, "day Invalid isoformat"),
        ({**NOTICE, "extra": 1}, "extra is not known here"),
        ({}, "day is missing; airports is missing; cause is missing"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_and_nothing_happens(desk: Desk, body: Any, said: str) -> None:
    status, answer, _ = desk.ask("POST", "/notices", body)

    assert status == 422
    assert said in answer["detail"]
    assert desk.ask("GET", "/effects/k1")[0] == 404


def test_without_token_or_key_nothing_happens(desk: Desk) -> None:
    assert desk.ask("POST", "/notices", NOTICE, token="other")[0] == 401
    assert desk.ask("POST", "/notices", NOTICE, key=None)[0] == 400
    assert desk.ask("GET", "/counts")[1]["calls"] == {}


def test_it_ends_cleanly_when_asked(desk: Desk) -> None:
    assert desk.end(signal.SIGTERM) == 0


def test_it_ends_by_itself_when_nobody_needs_it(tmp_path: Path) -> None:
    idle = Desk(tmp_path, "--idle-s", "0.2")

    with idle.process:
        assert idle.process.wait(timeout=60) == 0


def test_the_board_shows_what_was_done_and_takes_no_text_for_markup(desk: Desk) -> None:
    desk.ask("POST", "/notices", {**NOTICE, "message": "<script>alert(1)</script> 延误"}, key="a")
    desk.ask("POST", "/waivers", {"day": "2013-02-09", "airports": ["EWR"], "flights": 3, "reason": "weather"}, key="b")

    def page(query: str) -> str:
        connection = HTTPConnection(desk.address.hostname or "", desk.address.port, timeout=10)
        connection.request("GET", f"/board{query}", headers={"Authorization": "Bearer t"})
        response = connection.getresponse()
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        text = response.read().decode()
        connection.close()
        return text

    assert "Notices (1)" in page("")
    assert "Waivers (1)" in page("")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 延误" in page("")
    assert "Waivers (1)" not in page("?day=2013-02-08")
    assert "<b>" not in page("?day=%3Cb%3E")
    assert desk.ask("GET", "/board", token="wrong")[0] == 401
