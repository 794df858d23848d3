"""Python that belongs to no order runs in a sandbox of its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cluster.sandbox import driver_for
from cluster.sandbox.port import Lack
from console.scripts import SandboxedScripts
from runtime.errors import CapabilityFailed
from runtime.settings.load import load

pytestmark = pytest.mark.anyio


@pytest.fixture
def scripts(tmp_path: Path) -> SandboxedScripts:
    return SandboxedScripts(load({"home": str(tmp_path / "home")}, working=tmp_path))


async def test_a_script_gives_its_result_and_leaves_nothing(scripts: SandboxedScripts, tmp_path: Path) -> None:
    assert await scripts.run("result = inputs['a'] + 1", "f.py", {"a": 1}) == 2
    assert list((tmp_path / "home").glob("script-*")) == []


async def test_a_script_that_fails_is_told_with_its_line(scripts: SandboxedScripts) -> None:
    with pytest.raises(CapabilityFailed, match=r"f\.py failed in line 2: .*ZeroDivisionError"):
        await scripts.run("x = 0\nresult = 1 / x", "f.py", {})


async def test_a_script_finds_no_secret_of_the_environment(
    scripts: SandboxedScripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILICON_CANARY", "canary")
    assert await scripts.run("import os; result = os.environ.get('SILICON_CANARY')", "f.py", {}) is None


async def test_a_script_has_no_network(scripts: SandboxedScripts, tmp_path: Path) -> None:
    driver = driver_for(load({"home": str(tmp_path / "home")}, working=tmp_path).slot)(1)
    if Lack.NETWORK.value in driver.cannot_enforce:
        pytest.skip(f"the driver {driver.name} cannot take the network away here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = (
            "import socket\n"
            f"try:\n    socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), timeout=1)\n"
            "    result = 'reached'\n"
            "except OSError:\n    result = 'none'\n"
        )
        assert await scripts.run(script, "f.py", {}) == "none"
