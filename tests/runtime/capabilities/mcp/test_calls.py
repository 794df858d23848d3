"""Calls of declared tools over both transports and both generations of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from contracts import EvidenceKind
from runtime.capabilities.port import CallResult
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    CapabilityTimeout,
    InvalidArguments,
    NetworkFault,
    surely_not,
)
from tests.fakes.calls import a_call
from tests.runtime.capabilities.mcp.conftest import Address, Desk, Open

pytestmark = pytest.mark.anyio
SHA = "0" * 64


@pytest.fixture(params=["stdio", "stdio --old", "http", "http --old --json"])
def either(request: pytest.FixtureRequest, desk: Open, at_address: Callable[..., Address]) -> Callable[..., Desk]:
    """Return what declares a connection over each transport and generation."""
    way, *options = request.param.split()

    def make(**declared: Any) -> Desk:
        if way == "stdio":
            return desk(*options, **declared)
        return desk(url=at_address(*options).url, allow_private=True, **declared)

    return make


async def test_calls_of_one_connection_share_one_session_however_many_there_are(either: Callable[..., Desk]) -> None:
    here = either()

    results = await asyncio.gather(*(here.call("echo", text=str(number)) for number in range(20)))

    assert [result.output for result in results] == [{"text": str(number)} for number in range(20)]
    assert here.server.status == "open"


async def test_a_tool_gets_the_key_of_the_step_and_its_receipt_names_server_and_version(
    either: Callable[..., Desk],
) -> None:
    here, context = either(), a_call()
    sha = (await here.server.tools())["write"].sha256
    result = await either(tools={"write": {"effect": "write", "sha256": sha}}).call("write", context, line="a")

    assert here.lines("effects") == [f"a {context.key}"]
    (item,) = result.evidence
    assert (item.kind, item.facts["server"], item.facts["tool_sha256"]) == (EvidenceKind.RECEIPT, "fake 7", sha)


async def test_two_megabytes_come_whole_and_more_than_the_limit_is_refused_once(either: Callable[..., Desk]) -> None:
    here = either()

    assert len((await here.call("large", kib=2_048)).output["text"]) == 2 * 1_024 * 1_024
    with pytest.raises(BusinessRefusal, match=r"more than 8192 KiB.*mcp\.result_kib"):
        await here.call("large", kib=9_000)
    assert (await here.call("echo", text="on")).output == {"text": "on"}


async def test_what_a_server_says_of_an_error_is_bounded(either: Callable[..., Desk]) -> None:
    here = either()
    with pytest.raises(CapabilityFailed) as raised:
        await here.call("broken", kib=2_048)

    assert len(str(raised.value)) < 500
    with pytest.raises(BusinessRefusal) as refused:
        await here.call("fail", text="z" * 2_000_000)
    assert len(str(refused.value)) < 500


async def test_a_call_that_is_cancelled_is_stopped_at_the_server(either: Callable[..., Desk]) -> None:
    here = either()
    calling = asyncio.create_task(here.call("slow", text="a"))
    await _noted(here, "slow", "began")
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    await _noted(here, "slow", "stopped")
    assert (await here.call("echo", text="on")).output == {"text": "on"}


async def test_a_call_that_takes_too_long_is_stopped_and_told_as_that(desk: Open) -> None:
    here = desk(tools={"slow": {"effect": "read", "limit_s": 0.5}, "echo": {"effect": "read"}})
    await here.call("echo", text="it runs")

    with pytest.raises(CapabilityTimeout, match=r"longer than 0\.5 s.*limit_s") as raised:
        await here.call("slow", text="a")
    assert not surely_not(raised.value.facts)
    await _noted(here, "slow", "stopped")


async def test_what_a_server_takes_to_start_does_not_count_as_a_slow_call(desk: Open) -> None:
    words = "import sys, time; time.sleep(2); sys.exit('no licence')"
    quick = {"echo": {"effect": "read", "limit_s": 0.5}}
    here = desk(command="python", args=["-c", words], tools=quick)
    router = Router(Registry(here.tools.values()))

    with pytest.raises(NetworkFault, match="no licence"):
        await router.call("desk.echo", {"text": "a"}, a_call(), timeout_s=None)


async def test_a_tool_that_reports_an_error_leaves_open_what_it_did_unless_it_is_atomic(desk: Open) -> None:
    here = desk(
        tools={"fail": {"effect": "read"}, "all_or_nothing": {"tool": "fail", "effect": "read", "atomic": True}}
    )
    with pytest.raises(BusinessRefusal, match="reports that it failed: no such day") as raised:
        await here.call("fail", text="no such\n day")
    assert not surely_not(raised.value.facts)

    with pytest.raises(BusinessRefusal) as raised:
        await here.tools["all_or_nothing"].call({"text": "no"}, a_call())
    assert surely_not(raised.value.facts)


async def test_a_refusal_by_the_protocol_says_who_can_help(desk: Open) -> None:
    here = desk(tools={"raises": {"effect": "read"}, "large": {"effect": "read"}})
    with pytest.raises(BusinessRefusal, match="said: not today") as raised:
        await here.call("raises", text="not today")

    assert not surely_not(raised.value.facts)


@pytest.mark.parametrize("options", [(), ("--old",)])
async def test_a_server_that_asks_back_is_told_that_nobody_is_asked(desk: Open, options: tuple[str, ...]) -> None:
    with pytest.raises(BusinessRefusal, match=r"asks back|not supported") as raised:
        await desk(*options).call("ask")

    assert not surely_not(raised.value.facts)


async def test_an_answer_that_breaks_the_tools_own_schema_is_an_error_and_the_call_was_made(desk: Open) -> None:
    with pytest.raises(CapabilityFailed, match="does not fit its own declaration") as raised:
        await desk().call("wrong_day")

    assert not surely_not(raised.value.facts)


async def test_pictures_and_resources_become_files_and_links_stay_links(desk: Open) -> None:
    result = await desk().call("things")

    assert [(file.name, file.media_type) for file in result.files] == [
        ("things-1.png", "image/png"),
        ("2-notes.md", "text/markdown"),
        ("3-2e-2e", "application/octet-stream"),
    ]
    assert result.files[1].data == "# Ünï".encode()
    assert [item.sha256 for item in result.evidence[1:]] == [file["sha256"] for file in result.output["files"]]
    assert result.output["text"] == "see" and result.output["links"][0]["uri"] == "https://elsewhere.example/a"


@pytest.mark.parametrize("tool", ["day", "text_day"])
async def test_declared_fields_come_from_structured_content_or_from_a_text_of_json(desk: Open, tool: str) -> None:
    here = desk(tools={tool: {"effect": "read", "gives": {"day": "string"}}})

    assert (await here.call(tool)).output == {"day": "Friday"}


async def test_a_text_where_fields_are_declared_is_an_error_that_shows_it(desk: Open) -> None:
    here = desk(tools={"echo": {"effect": "read", "gives": {"day": "string"}}})

    with pytest.raises(BusinessRefusal, match=r"gave no object.*Leave `gives` out"):
        await here.call("echo", text="Friday")


async def test_a_program_gets_its_secrets_and_nothing_else_of_the_environment(
    desk: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMETHING_ELSE", "x")
    here = desk(
        environment={"DESK_KEY": "a-long-secret", "OTHER": "another-secret"},
        env={"DESK_KEY": {"secret": "DESK_KEY"}, "TOKEN": {"secret": "OTHER"}},
    )
    told = json.loads((await here.call("about")).output["text"])

    assert told["folder"] == str(here.folder)
    allowed = {"DESK_KEY", "TOKEN", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV"}
    assert told["environment"].keys() <= allowed
    assert (told["environment"]["DESK_KEY"], told["environment"]["TOKEN"]) == ("a-long-secret", "another-secret")


async def test_a_secret_that_is_not_set_stops_the_call_before_anything_starts(desk: Open) -> None:
    with pytest.raises(CapabilityFailed, match="DESK_KEY is not set") as raised:
        await desk(env=["DESK_KEY"]).call("echo", text="a")

    assert surely_not(raised.value.facts)


async def test_an_argument_that_is_left_out_is_not_sent_as_nothing(desk: Open) -> None:
    here = desk(tools={"echo": {"effect": "read"}, "about": {"effect": "read", "tool": "large"}})
    router = Router(Registry(here.tools.values()))

    with pytest.raises(InvalidArguments, match="no `volume`"):
        await router.call("desk.echo", {"text": "a", "volume": 3}, a_call(), timeout_s=None)
    result = await router.call("desk.echo", {"text": "a"}, a_call(), timeout_s=None)
    assert isinstance(result, CallResult) and result.output == {"text": "a"}


async def _noted(here: Desk, file: str, line: str) -> None:
    """Wait until the server has noted something; a minute says that it hangs."""
    async with asyncio.timeout(60):
        while line not in here.lines(file):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
