"""The corner shop with its till in a process of its own, which speaks nothing but HTTP to a real server."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.console.server.office import PATIENCE_S, ROOT, Site, Up, Work
from tests.silicon import warm_silicon

pytestmark = pytest.mark.xdist_group("corner_shop")  # one server for all of it
SHOP = ROOT / "examples" / "corner_shop"
BRIDGE = SHOP / "till" / "bridge.py"
STEPS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", (SHOP / "README.md").read_text(), re.M | re.S)
    for line in block.splitlines()
]
"""What its README tells to type, in that order."""
UP, TOKEN, TILL, COUNT, REFUND, CARDS, DECIDE = STEPS


class Till:
    """The bridge of the example, as a process, and its drawer."""

    def __init__(self, process: subprocess.Popen[str], drawer: Path) -> None:
        self.process = process
        self._drawer = drawer
        self._said: list[dict[str, Any]] = []
        self._news = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return what the bridge said of that event, once it did."""
        with self._news:
            there = self._news.wait_for(lambda: any(each["event"] == event for each in self._said), PATIENCE_S)
            assert there, f"no {event} among {self._said}"
            return next(each for each in self._said if each["event"] == event)

    def wait_for_refund(self, count: int) -> None:
        """Return once so many refunds were paid."""
        until = time.monotonic() + PATIENCE_S
        while len(self.refunds) < count:
            assert time.monotonic() < until, f"{self.refunds} {self._said}"
            with self._news:
                self._news.wait(0.02)

    def said(self, event: str) -> bool:
        """Whether it said so up to now."""
        return any(each["event"] == event for each in self._said)

    @property
    def refunds(self) -> dict[str, Any]:
        """What was paid back, by key."""
        return dict(json.loads(self._drawer.read_text())["refunds"]) if self._drawer.exists() else {}

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self._said.append(json.loads(line))
                self._news.notify_all()


class Shop:
    """A server with the shop, and everybody who works there."""

    def __init__(self, site: Site, up: Up, token: str) -> None:
        self.site, self.up, self.token = site, up, token

    @contextmanager
    def till(self, **environment: str) -> Iterator[Till]:
        """Start the bridge; it is killed at the end."""
        drawer = self.site.folder / "drawer.json"
        told = TILL.replace("silicon_…", self.token).replace("http://127.0.0.1:8700", self.up.address)
        process = subprocess.Popen(
            ["bash", "-c", told.replace(" python ", f" exec {sys.executable} ")], cwd=self.site.folder,
            env={"PATH": os.environ["PATH"], **environment}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            till = Till(process, drawer)
            till.wait_for("registered")
            yield till
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def do(self, step: str, exits: int = 0) -> dict[str, Any]:
        """Type a command of the README; return what it said."""
        return dict(self.site.run(*shlex.split(step)[1:], exits=exits))

    def ask(self, goal: str, **parameters: Any) -> str:
        """Hand a goal to the server."""
        said = {"organisation": "corner-shop", "goal": goal, "parameters": parameters, "as": "clerk"}
        return str(self.site.ask(self.up, "POST", "/executions", said)["execution_id"]).partition("/")[2]

    def end(self, execution: str) -> dict[str, Any]:
        """Return how it stands, once it ended."""
        self.site.follow(self.up, execution)
        return dict(self.site.ask(self.up, "GET", f"/executions/{execution}"))

    @contextmanager
    def approving(self, execution: str) -> Iterator[None]:
        """Let the owner approve the card of the execution once it is there; at the end, what follows is over."""
        self.site.follow(self.up, execution, "execution.waiting")
        (card,) = self.site.ask(self.up, "GET", f"/executions/{execution}")["cards"]
        words = "approvals", "decide", card["card_id"], "do", "--as", "owner", "--json"
        deciding = self.site.start(*words, program=warm_silicon())
        try:
            yield
            deciding.communicate(timeout=PATIENCE_S)
        finally:
            deciding.kill()
            deciding.communicate()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    shutil.copytree(SHOP, folder / "examples" / "corner_shop")
    work = Work()
    settings = {"SILICON_SLOT__LEASE_S": "3", "SILICON_SLOT__COUNT": "2", "SILICON_ENGINE__SETTLE_S": "0.1"}
    site = Site(folder, work, folder / "examples" / "corner_shop", settings)
    try:
        with site.up(*shlex.split(UP)[2:]) as up:
            yield Shop(site, up, site.run(*shlex.split(TOKEN)[1:])["token"])
    finally:
        work.stop()


def test_the_bridge_is_short_and_uses_nothing_of_ours() -> None:
    text = BRIDGE.read_text()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    used = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes}

    assert len(text.splitlines()) < 150
    assert {name for name in used if name not in sys.stdlib_module_names} == {"httpx"}


def _mistaken(*given: str, **environment: str) -> tuple[int, str]:
    """Start the bridge with a mistake; return its exit code and what it said to the person."""
    process = subprocess.run(
        [sys.executable, str(BRIDGE), *given], env={"PATH": os.environ["PATH"], **environment},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert len(process.stderr.splitlines()) == 1, process.stderr
    return process.returncode, process.stderr


def test_a_bridge_that_is_started_wrongly_says_how_to_start_it() -> None:
    for given, token in (((), "silicon_x"), (("http://127.0.0.1:9", "drawer"), ""), (("127.0.0.1", "drawer"), "x")):
        code, said = _mistaken(*given, BRIDGE_TOKEN=token)
        assert (code, said.startswith("Usage: BRIDGE_TOKEN=silicon_… python till/bridge.py http")) == (2, True)


def test_a_bridge_that_finds_no_server_says_that_it_waits(tmp_path: Path) -> None:
    with socket.socket() as bound:  # nobody listens there
        bound.bind(("127.0.0.1", 0))
        command = [sys.executable, str(BRIDGE), f"http://127.0.0.1:{bound.getsockname()[1]}", str(tmp_path / "drawer")]
        process = subprocess.Popen(
            ["env", "--default-signal=INT", *command],  # whoever runs the tests in the background ignores it
            env={"PATH": os.environ["PATH"], "BRIDGE_TOKEN": "silicon_x"}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with process:
            try:
                till = Till(process, tmp_path / "drawer")
                assert "cannot be reached" in till.wait_for("waiting")["why"]
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE_S) == 130
            finally:
                process.kill()


def test_a_token_that_is_wrong_or_for_something_else_is_told_in_the_words_of_the_server(shop: Shop) -> None:
    address = shop.up.address
    other = shop.site.run("tokens", "create", "b", "--bridge", "--for", str(shop.site.office), "--label", "lamp")

    code, said = _mistaken(address, "drawer.json", BRIDGE_TOKEN="silicon_wrong")
    assert (code, "The token counts for nothing: it is wrong or was revoked." in said) == (1, True)
    code, said = _mistaken(address, "drawer.json", BRIDGE_TOKEN=other["token"])
    assert (code, "The token may not offer till. It may offer: lamp." in said) == (1, True)


def test_the_steps_of_the_readme_count_the_drawer_and_pay_once_after_the_owner_approved(shop: Shop) -> None:
    with shop.till() as till:
        assert shop.do(COUNT)["state"] == "done"
        asked = shop.do(REFUND, exits=3)
        (card,) = shop.do(CARDS)["cards"]
        shop.do(DECIDE.replace("CARD", card["id"]))
        assert shop.end(asked["execution_id"].partition("/")[2])["output"] == {"slip": "R-1", "cents": 1250}
        refused = shop.end(shop.ask("Refund the customer", receipt="B-2", cents=999_900))

        assert (refused["state"], till.said("refused"), list(till.refunds.values())) == (
            "failed", True, [{"slip": "R-1", "cents": 1250}],
        )  # fmt: skip
        assert till.said("card") and not till.said("gone")  # what goes well does not look like a lost slot
    assert shop.site.run("audit", "verify")["faults"] == []


def test_a_bridge_that_is_killed_with_the_drawer_open_pays_once(shop: Shop) -> None:
    with shop.till(TILL_SLOW_S="120") as till:
        before = till.refunds
        refund = shop.ask("Refund the customer", receipt="B-3", cents=300)
        with shop.approving(refund):
            till.wait_for_refund(len(before) + 1)
            till.process.send_signal(signal.SIGKILL)
            till.process.wait()
            paid = till.refunds
            with shop.till() as other:
                ended = shop.end(refund)

            assert (ended["state"], other.refunds) == ("done", paid)
            assert not other.said("allowed")  # it was asked whether it happened, and did nothing


def test_a_bridge_that_wakes_up_after_another_took_over_stops(shop: Shop) -> None:
    with shop.till(TILL_SLOW_S="120") as till:
        before = till.refunds
        refund = shop.ask("Refund the customer", receipt="B-4", cents=400)
        with shop.approving(refund):
            till.wait_for_refund(len(before) + 1)
            till.process.send_signal(signal.SIGSTOP)
            with shop.till() as other:  # under the same name: it is the node now
                ended = shop.end(refund)
                till.process.send_signal(signal.SIGCONT)

                assert till.wait_for("lost")["code"] == "BRIDGE_REPLACED"
                assert till.process.wait(PATIENCE_S) == 0
                assert (ended["state"], len(other.refunds)) == ("done", len(before) + 1)


def test_a_server_that_is_killed_in_the_middle_of_a_refund_leaves_one_refund(shop: Shop) -> None:
    with shop.till(TILL_SLOW_S="1") as till:
        before = till.refunds
        refund = shop.ask("Refund the customer", receipt="B-5", cents=500)
        with shop.approving(refund):
            till.wait_for_refund(len(before) + 1)
            shop.up.kill()
            port = shop.up.address.rpartition(":")[2]
            with shop.site.up("--port", port, str(shop.site.office)) as shop.up:
                ended = shop.end(refund)

            assert (ended["state"], len(till.refunds)) == ("done", len(before) + 1)
