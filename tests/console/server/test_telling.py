"""A server tells people of its organisations by the channels that their folders name now."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from console.application import SiliconApplication
from console.resources import Resources
from console.server.telling import courier_of
from console.views import RunOptions
from governance.channels import DeliveryState
from runtime.errors import OrganisationFaulty
from runtime.settings.load import Settings
from tests.console.desks import make_organisation
from tests.fakes.clock import HandClock
from tests.fakes.http_service import Answer, HttpService
from tests.stores import lay_empty_ledger

pytestmark = pytest.mark.anyio


@pytest.fixture
def receiver() -> Iterator[HttpService]:
    service = HttpService(lambda asked: Answer(status=204, raw=b""))
    yield service
    service.stop()


@pytest.fixture
def folder(tmp_path: Path, receiver: HttpService, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The desk, whose clerk is told by a webhook on this machine."""
    monkeypatch.setenv("HOOK_SECRET", "a secret of the hook")
    folder = make_organisation(tmp_path / "desk")
    hook = (
        f"channels:\n  hook: {{kind: webhook, url: '{receiver.address}', secret: HOOK_SECRET, allow_private: true}}\n"
    )
    org = (folder / "org.yaml").read_text()
    told = org.replace("name: Sam,", "name: Sam, notify: hook,").replace("approvals:\n", f"{hook}approvals:\n")
    (folder / "org.yaml").write_text(told)
    return folder


@pytest.fixture
async def resources(tmp_path: Path) -> AsyncIterator[Resources]:
    lay_empty_ledger(tmp_path / "home")
    resources = Resources(Settings(home=tmp_path / "home"), HandClock())
    yield resources
    await resources.close()


async def ask(resources: Resources, folder: Path) -> None:
    """Run a goal until it waits for the clerk."""
    await SiliconApplication(resources).run(folder, RunOptions(goal="Choose a day"), watch=lambda event: None)


async def test_a_question_reaches_the_channel_of_whoever_is_asked(
    resources: Resources, folder: Path, receiver: HttpService
) -> None:
    ledger = (await resources.store()).ledger
    await courier_of(resources, {}, ledger).step()
    await ask(resources, folder)
    await courier_of(resources, {}, ledger).step()
    (asked,) = receiver.asked
    told = json.loads(asked.body)
    assert (told["type"], told["data"]["person"]) == ("question.asked", "clerk")
    assert told["data"]["title"] == "Question: Which day?"
    assert "a secret of the hook" not in json.dumps([event.data for event in await ledger.read_all()])


async def test_an_organisation_that_the_server_was_not_given_is_not_told_by_it(
    resources: Resources, folder: Path, receiver: HttpService, tmp_path: Path
) -> None:
    ledger = (await resources.store()).ledger
    other = {"shop": tmp_path / "shop"}
    await courier_of(resources, other, ledger).step()
    await ask(resources, folder)
    await courier_of(resources, other, ledger).step()
    assert receiver.asked == []


async def test_while_the_folder_is_faulty_nothing_is_passed_over(
    resources: Resources, folder: Path, receiver: HttpService
) -> None:
    ledger = (await resources.store()).ledger
    await courier_of(resources, {}, ledger).step()
    await ask(resources, folder)
    org = folder / "org.yaml"
    good = org.read_text()
    org.write_text("name: [")
    with pytest.raises(OrganisationFaulty):
        await courier_of(resources, {}, ledger).step()
    org.write_text(good)
    await courier_of(resources, {}, ledger).step()
    assert len(receiver.asked) == 1


async def test_one_that_was_given_up_is_shown_and_tried_anew_once_somebody_says_so(
    resources: Resources, folder: Path, receiver: HttpService
) -> None:
    application, ledger = SiliconApplication(resources), (await resources.store()).ledger
    await courier_of(resources, {}, ledger).step()
    await ask(resources, folder)
    receiver.answer = lambda asked: Answer(status=410)
    await courier_of(resources, {}, ledger).step()
    (dead,) = await application.deliveries(limit=10)
    receiver.answer = lambda asked: Answer(status=204, raw=b"")
    await application.retry_delivery(dead.delivery_id, by="root")
    await courier_of(resources, {}, ledger).step()
    assert (dead.state, dead.why) == (DeliveryState.DEAD, f"hook ({receiver.address[7:]}) answered 410.")
    assert await application.deliveries(limit=10) == []
    assert [each.state for each in await application.deliveries(all_=True, limit=10)] == [DeliveryState.SENT]
