"""Webhooks, signed as Standard Webhooks 1.0 says: the receiver can tell who sent it, that it is whole and new."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from governance.channels.channel import Webhook
from governance.channels.delivery import Delivery
from governance.channels.errors import NeverTaken, NotDelivered
from runtime.capabilities.secrets import Secrets
from runtime.errors import SiliconError

if TYPE_CHECKING:
    import httpx

_GONE = 410
_PREFIX = "whsec_"


class WebhookSender:
    """Sends over connections of its own; addresses are judged as those of services are."""

    def __init__(self, secrets: Secrets, *, timeout_s: float) -> None:
        self._secrets = secrets
        self._timeout_s = timeout_s

    async def send(self, delivery: Delivery, channel: Webhook, link: str, now: datetime) -> None:
        """Return once the receiver answered 2xx.

        Raises:
            NotDelivered: it did not, or could not be reached.
            NeverTaken: it answered 410, which says that nobody listens there any more.
        """
        import httpx

        try:
            key = key_of(self._secrets.get(channel.secret))
            body = payload(delivery, link, now)
            async with self._client(channel) as client:
                headers = {**signed(delivery, body, key, now), "Content-Type": "application/json"}
                async with client.stream("POST", channel.url, content=body, headers=headers) as response:
                    status = response.status_code  # what else it says is not read
        except SiliconError as error:
            raise NotDelivered(error.message, channel=channel.name) from error
        except httpx.HTTPError as error:
            what = f"{_there(channel)} cannot be reached: {str(error) or type(error).__name__}."
            raise NotDelivered(what, channel=channel.name) from error
        if not 200 <= status < 300:
            kind = NeverTaken if status == _GONE else NotDelivered
            raise kind(f"{_there(channel)} answered {status}.", channel=channel.name, status=status)

    def _client(self, channel: Webhook) -> httpx.AsyncClient:
        import httpx

        from runtime.capabilities.http_pinned import PinnedTransport

        transport = PinnedTransport(channel.name, allow_private=channel.allow_private)
        return httpx.AsyncClient(transport=transport, timeout=self._timeout_s, follow_redirects=False)


def _there(channel: Webhook) -> str:
    """Return the receiver in words; paths of webhooks are often secrets."""
    return f"{channel.name} ({urlsplit(channel.url).netloc})"


def key_of(secret: str) -> bytes:
    """Return the bytes to sign with: those behind `whsec_` in base64, or the text itself."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError as error:
        raise NotDelivered("The secret begins with whsec_, and what follows is not base64.") from error


def payload(delivery: Delivery, link: str, now: datetime) -> bytes:
    """Return the body: what it is about, for whom, and where it can be looked at. It decides nothing."""
    told = {
        "type": delivery.what,
        "timestamp": now.isoformat(),
        "data": {
            "id": delivery.delivery_id,
            "organisation": delivery.organisation,
            "person": delivery.person,
            "severity": delivery.severity.value,
            "about": delivery.about,
            "title": delivery.title,
            "text": delivery.text,
            "link": link or None,
        },
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def signed(delivery: Delivery, body: bytes, key: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of Standard Webhooks; the id is the same with every try, the time that of this one."""
    id_, at = delivery.delivery_id.ulid, str(int(now.timestamp()))
    told = b".".join((id_.encode(), at.encode(), body))
    signature = base64.b64encode(hmac.new(key, told, hashlib.sha256).digest()).decode()
    return {"webhook-id": id_, "webhook-timestamp": at, "webhook-signature": f"v1,{signature}"}
