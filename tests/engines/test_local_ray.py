"""A Ray that was started with a command ends with it, whatever ends the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import psutil
import pytest

from tests.console.server.office import Site, Work, make_office
from tests.crash.lives import ROOT, copy_organisation
from tests.crash.person import ask_desk

pytestmark = [pytest.mark.timeout(180)]


@pytest.fixture
def command(tmp_path: Path, desk: int) -> Iterator[subprocess.Popen[str]]:
    """`silicon run` with a Ray of its own, in the middle of a payment."""
    ask_desk(desk, "/begin", {})
    ask_desk(desk, "/hold", {"path": "/accounts/first"})
    copy_organisation(tmp_path / "organisation", desk)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILICON_", "RAY_"))}
    words = ["run", str(tmp_path / "organisation"), "Close.", "--skill", "close-month", "--as", "ann"]
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("silicon")), *words, "--engine", "ray"],
        env={**kept, "SILICON_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        ask_desk(desk, "/await/accounts/second", within_s=120)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_nothing_of_a_local_ray_is_left(command: subprocess.Popen[str], sent: signal.Signals) -> None:
    started = _processes_of(command.pid)
    assert any("raylet" in " ".join(each.info["cmdline"] or ()) for each in started)

    command.send_signal(sent)
    command.communicate(timeout=60)
    _, alive = psutil.wait_procs(started, timeout=30)

    assert alive == []
    left = list(Path(tempfile.gettempdir()).glob(f"silicon-ray-{command.pid}-*"))
    assert left == [] or sent is signal.SIGKILL  # the next start removes it then
    for folder in left:
        _remove_as_the_next_start(folder)


def test_a_server_finishes_a_goal_and_ends_with_all_of_its_ray(tmp_path: Path) -> None:
    work = Work()
    site = Site(tmp_path, work, make_office(tmp_path / "office", work, steps=3))
    connections = site.office / "connections.yaml"
    connections.write_text(connections.read_text() + "  headers: {Authorization: {secret: DESK_TOKEN}}\n")
    try:
        with site.up(str(site.office), "--engine", "ray", DESK_TOKEN="token-of-the-desk", UNNAMED="x") as up:
            told = site.follow(up, site.submit(up))
            started = _processes_of(up.pid)
            heard = set().union(*(_listens_on(each) for each in (*started, psutil.Process(up.pid))))
            inherited = set().union(*(_names_in_environment(each) for each in started))
            up.stop()
            _, alive = psutil.wait_procs(started, timeout=30)
    finally:
        work.stop()

    assert any("raylet" in " ".join(each.info["cmdline"] or ()) for each in started)
    assert alive == []
    assert heard and all(each.is_loopback for each in heard), heard
    assert "PATH" in inherited and not {"DESK_TOKEN", "UNNAMED"} & inherited
    assert list(Path(tempfile.gettempdir()).glob(f"silicon-ray-{up.pid}-*")) == []
    assert told[-1]["data"]["report"]["state"] == "done"
    assert work.calls == {"s1": 1, "s2": 1, "s3": 1}
    assert site.run("audit", "verify")["faults"] == []


def _names_in_environment(process: psutil.Process) -> set[str]:
    """Return the variables that a process was started with; none when it has ended."""
    with suppress(psutil.Error):
        return set(process.environ())
    return set()


def _listens_on(process: psutil.Process) -> set[IPv4Address | IPv6Address]:
    """Return the addresses on which a process takes connections; none when it has ended."""
    with suppress(psutil.Error):
        taken = {each.laddr.ip for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
        return {ip_address(each.removeprefix("::ffff:")) for each in taken}  # an IPv4 address as IPv6 has it
    return set()


def _processes_of(pid: int) -> list[psutil.Process]:
    """Return every process below the command, whose parents may have gone."""
    found: dict[int, psutil.Process] = {}
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.info = {"cmdline": process.cmdline()}
                found[process.pid] = process
    return list(found.values())


def _remove_as_the_next_start(folder: Path) -> None:
    from agents.workforce.ray.actors import remove_left

    remove_left()
    assert not folder.exists()
