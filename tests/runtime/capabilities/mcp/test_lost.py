"""A server that ends, restarts or forgets its session: what is called again, what is not, and what is said of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from runtime.capabilities.mcp.listing import ListedTool
from runtime.errors import CapabilityFailed, NetworkFault, surely_not
from runtime.settings import McpSettings
from tests.runtime.capabilities.mcp.conftest import Address, Desk, Open

pytestmark = pytest.mark.anyio
GENERATIONS = pytest.mark.parametrize("options", [(), ("--old", "--json")])


async def write_tools(here: Desk) -> dict[str, Any]:
    """Return the declaration of `write` as an effect, of the version that the server offers."""
    listed: ListedTool = (await here.server.tools())["write"]
    return {"write": {"effect": "irreversible", "sha256": listed.sha256}, "echo": {"effect": "read"}}


@GENERATIONS
async def test_a_server_that_restarts_between_two_calls_is_met_again(
    desk: Open, at_address: Callable[..., Address], options: tuple[str, ...]
) -> None:
    address = at_address(*options)
    here = desk(url=address.url, allow_private=True, tools=await write_tools(desk(url=address.url, allow_private=True)))
    await here.call("write", line="1")
    address.restart()
    await here.call("write", line="2")
    address.restart()

    assert (await here.call("echo", text="on")).output == {"text": "on"}
    assert [line.split()[0] for line in here.lines("effects")] == ["1", "2"]
    assert here.server.status.startswith("open")


@GENERATIONS
async def test_an_effect_during_which_the_server_dies_is_in_doubt_and_never_made_again(
    desk: Open, at_address: Callable[..., Address], options: tuple[str, ...]
) -> None:
    address = at_address(*options)
    here = desk(url=address.url, allow_private=True, tools=await write_tools(desk(url=address.url, allow_private=True)))
    with pytest.raises(NetworkFault) as raised:
        await here.call("write", line="1", then="die")

    assert not surely_not(raised.value.facts)
    address.restart()
    assert (await here.call("echo", text="on")).output == {"text": "on"}
    assert len(here.lines("effects")) == 1


@GENERATIONS
async def test_a_server_that_cannot_be_reached_surely_did_nothing(
    desk: Open, at_address: Callable[..., Address], options: tuple[str, ...]
) -> None:
    address = at_address(*options)
    here = desk(url=address.url, allow_private=True, tools=await write_tools(desk(url=address.url, allow_private=True)))
    await here.call("echo", text="it runs")
    address.kill()
    for tool, arguments in (("write", {"line": "1"}), ("echo", {"text": "a"})):
        with pytest.raises(NetworkFault, match="no connection") as raised:
            await here.call(tool, **arguments)
        assert surely_not(raised.value.facts)

    address.start()
    assert (await here.call("echo", text="on")).output == {"text": "on"}


@pytest.mark.parametrize("options", [(), ("--old",)])
async def test_a_read_during_which_a_program_ends_is_made_again_by_a_new_one(
    desk: Open, options: tuple[str, ...]
) -> None:
    here = desk(*options)

    assert (await here.call("end")).output == {"text": "still here"}
    assert here.server.status == "open, for the 2. time"


@pytest.mark.parametrize("options", [(), ("--old",)])
async def test_an_effect_during_which_a_program_ends_tells_how_it_ended(desk: Open, options: tuple[str, ...]) -> None:
    sha = (await desk(*options).server.tools())["end"].sha256
    here = desk(*options, tools={"end": {"effect": "write", "sha256": sha}})
    with pytest.raises(NetworkFault, match=r"ended \(exit code 3\).*the disk is on fire") as raised:
        await here.call("end")

    assert not surely_not(raised.value.facts)
    assert here.server.status.startswith("lost: The MCP server of connection desk ended")
    assert (await here.call("end")).output == {"text": "still here"}


async def test_a_program_that_ends_at_once_is_told_with_its_last_words(desk: Open) -> None:
    words = "import sys; sys.exit('no licence')"
    with pytest.raises(NetworkFault, match=r"ended \(exit code 1\).*no licence") as raised:
        await desk(command="python", args=["-c", words]).call("echo", text="a")

    assert surely_not(raised.value.facts)


async def test_a_program_that_is_not_there_is_told_with_how_to_mend_it(desk: Open) -> None:
    with pytest.raises(
        CapabilityFailed, match=r"/no/such/program: No such file.*`command` in connections\.yaml"
    ) as raised:
        await desk(command="/no/such/program").call("echo", text="a")

    assert surely_not(raised.value.facts)


async def test_a_program_that_says_nothing_is_given_up_and_ended(desk: Open) -> None:
    silent = desk(command="python", args=["-c", "import time; time.sleep(600)"], settings=McpSettings(start_s=0.5))
    with pytest.raises(NetworkFault, match=r"within 0\.5 s.*mcp\.start_s") as raised:
        await silent.call("echo", text="a")

    assert surely_not(raised.value.facts)


async def test_whoever_waits_for_a_session_that_does_not_open_gets_an_error_of_their_own(desk: Open) -> None:
    here = desk(command="/no/such/program")
    first, second = await asyncio.gather(
        here.call("echo", text="a"), here.call("echo", text="b"), return_exceptions=True
    )

    assert isinstance(first, CapabilityFailed) and isinstance(second, CapabilityFailed)
    assert first is not second


async def test_a_session_that_nobody_uses_ends_its_program(desk: Open) -> None:
    here = desk()
    await here.call("echo", text="a")
    await here.server.close()

    assert here.server.status == "not opened yet"
    assert (await here.call("echo", text="again")).output == {"text": "again"}
