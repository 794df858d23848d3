"""Webhooks against a real server: signed, never twice under another id, never to where they must not go."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from contracts import DeliveryId, Severity
from governance.channels import Delivery, Webhook
from governance.channels.errors import NeverTaken, NotDelivered
from governance.channels.webhook import WebhookSender
from runtime.capabilities.secrets import Secrets
from tests.fakes.http_service import Answer, Asked, HttpService

pytestmark = pytest.mark.anyio
NOW = datetime(2013, 2, 8, 22, 0, tzinfo=UTC)
SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LINK = "https://silicon.example.org/api/v1/approvals/01JB"
DELIVERY = Delivery(
    DeliveryId.under("airports", "event/1", "morgan", "hook"), "airports", "morgan", "hook", "card.raised",
    "card/01JB0000000000000000000CRD", Severity.MEDIUM, "Decision needed: 航班?", "472 flights", NOW, NOW,
)  # fmt: skip


@pytest.fixture
def receiver() -> Iterator[HttpService]:
    service = HttpService(lambda asked: Answer(status=204, raw=b""))
    yield service
    service.stop()


def sender(secret: str = f"whsec_{SECRET}") -> WebhookSender:
    return WebhookSender(Secrets({"HOOK": secret}), timeout_s=5)


def channel(receiver: HttpService, *, private: bool = True) -> Webhook:
    return Webhook("hook", f"{receiver.address}/silicon", "HOOK", allow_private=private)


def verify(asked: Asked, key: bytes, now: datetime) -> bool:
    """What a receiver does, as Standard Webhooks says."""
    headers = {name.lower(): value for name, value in asked.headers.items()}
    sent_at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    told = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + asked.body
    signature = base64.b64encode(hmac.new(key, told, hashlib.sha256).digest()).decode()
    good = any(hmac.compare_digest(each, f"v1,{signature}") for each in headers["webhook-signature"].split())
    return good and abs(now - sent_at) < timedelta(minutes=5)


async def test_a_receiver_can_tell_that_it_is_from_us_whole_and_new(receiver: HttpService) -> None:
    await sender().send(DELIVERY, channel(receiver), LINK, NOW)
    (asked,) = receiver.asked
    key = base64.b64decode(SECRET)
    assert verify(asked, key, NOW)
    assert not verify(asked, b"another key", NOW)
    assert not verify(asked, key, NOW + timedelta(minutes=6))
    asked.body += b" "
    assert not verify(asked, key, NOW)


async def test_it_says_what_and_where_and_decides_nothing(receiver: HttpService) -> None:
    await sender("a plain secret").send(DELIVERY, channel(receiver), LINK, NOW)
    told = json.loads(receiver.asked[0].body)
    assert told["type"] == "card.raised"
    assert told["data"]["title"] == "Decision needed: 航班?"
    assert (told["data"]["person"], told["data"]["link"]) == ("morgan", LINK)
    assert SECRET not in receiver.asked[0].body.decode()


async def test_each_try_has_the_same_id_and_its_own_time(receiver: HttpService) -> None:
    for later in (0, 60):
        await sender().send(DELIVERY, channel(receiver), LINK, NOW + timedelta(seconds=later))
    first, second = ({k.lower(): v for k, v in asked.headers.items()} for asked in receiver.asked)
    assert first["webhook-id"] == second["webhook-id"] == DELIVERY.delivery_id.ulid
    assert first["webhook-timestamp"] != second["webhook-timestamp"]


@pytest.mark.parametrize(("status", "kind"), [(500, NotDelivered), (302, NotDelivered), (410, NeverTaken)])
async def test_whatever_is_not_2xx_did_not_arrive_and_no_redirect_is_followed(
    receiver: HttpService, status: int, kind: type[NotDelivered]
) -> None:
    receiver.answer = lambda asked: Answer(status=status, headers={"Location": f"{receiver.address}/elsewhere"})
    with pytest.raises(NotDelivered) as failed:
        await sender().send(DELIVERY, channel(receiver), LINK, NOW)
    assert type(failed.value) is kind
    assert len(receiver.asked) == 1


async def test_an_address_of_this_machine_is_refused_unless_the_channel_allows_it(receiver: HttpService) -> None:
    with pytest.raises(NotDelivered, match="allow_private"):
        await sender().send(DELIVERY, channel(receiver, private=False), LINK, NOW)
    assert receiver.asked == []


async def test_a_secret_that_is_not_set_is_named_and_not_guessed(receiver: HttpService) -> None:
    with pytest.raises(NotDelivered, match="HOOK"):
        await WebhookSender(Secrets({}), timeout_s=5).send(DELIVERY, channel(receiver), LINK, NOW)


async def test_nobody_there_is_told_as_not_delivered() -> None:
    with pytest.raises(NotDelivered, match="cannot be reached"):
        await sender().send(DELIVERY, Webhook("hook", "http://127.0.0.1:9/x", "HOOK", True), LINK, NOW)
