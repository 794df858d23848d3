"""E-mail against a real server: over TLS, escaped, under one id."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts import DeliveryId, Severity
from governance.access import Person
from governance.channels import Delivery, Mailbox, Security
from governance.channels.errors import NeverTaken, NotDelivered
from governance.channels.mail import MailSender, mail
from runtime.capabilities.secrets import Secrets
from tests.fakes.mail_server import MailServer, mail_server

pytestmark = pytest.mark.anyio
NOW = datetime(2013, 2, 8, 22, 0, tzinfo=UTC)
LINK = "https://silicon.example.org/api/v1/approvals/01JB?x=1&y=2"
MORGAN = Person("morgan", "Morgan Lee", email="morgan@example.org")
DELIVERY = Delivery(
    DeliveryId.under("airports", "event/1", "morgan", "mail"), "airports", "morgan", "mail", "card.raised",
    "card/01JB0000000000000000000CRD", Severity.MEDIUM, "Decision needed: <b>fees</b> & 航班\nBcc: eve@example.org",
    "472 flights\n<script>alert(1)</script>", NOW, NOW,
)  # fmt: skip


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A certificate for this machine that is trusted for as long as a test runs."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    more = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*made, *more, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    found = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    found.load_cert_chain(certificate, key)
    return found


def mailbox(server: MailServer, security: Security = Security.NONE, **more: str) -> Mailbox:
    return Mailbox("mail", "127.0.0.1", server.port, "silicon@example.org", security, allow_private=True, **more)


def sender() -> MailSender:
    return MailSender(Secrets({"MAIL_PASSWORD": "hunter2 hunter2"}), timeout_s=5)


async def test_a_message_arrives_as_text_and_as_html_in_which_nothing_from_outside_acts() -> None:
    async with mail_server() as server:
        await sender().send(DELIVERY, mailbox(server), MORGAN, LINK, NOW)
    (message,) = server.messages
    text, html = (part.get_content() for part in message.iter_parts())
    assert server.recipients == ["morgan@example.org"]
    assert message["Subject"] == "Decision needed: <b>fees</b> & 航班 Bcc: eve@example.org"
    assert message["Bcc"] is None
    assert "472 flights" in text
    assert LINK in text
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert f'href="{LINK.replace("&", "&amp;")}"' in html


def test_a_message_has_the_same_id_with_every_try() -> None:
    box = Mailbox("mail", "mail.example.org", 587, "silicon@example.org")
    tries = [mail(DELIVERY, box, MORGAN, LINK, NOW)["Message-ID"] for _ in range(2)]
    assert tries == [f"<{DELIVERY.delivery_id.ulid}@example.org>"] * 2


@pytest.mark.parametrize("security", [Security.STARTTLS, Security.TLS])
async def test_over_tls_the_password_goes_to_a_server_that_proved_who_it_is(
    context: ssl.SSLContext, security: Security
) -> None:
    async with mail_server(context, implicit=security is Security.TLS) as server:
        box = mailbox(server, security, user="silicon", secret="MAIL_PASSWORD")
        await sender().send(DELIVERY, box, MORGAN, LINK, NOW)
    assert len(server.messages) == 1
    assert server.encrypted == [True]
    assert server.logins == [("silicon", "hunter2 hunter2")]


async def test_a_server_without_tls_is_given_neither_message_nor_password() -> None:
    async with mail_server() as server:
        box = mailbox(server, Security.STARTTLS, user="silicon", secret="MAIL_PASSWORD")
        with pytest.raises(NotDelivered):
            await sender().send(DELIVERY, box, MORGAN, LINK, NOW)
    assert (server.messages, server.logins) == ([], [])


async def test_a_server_whose_certificate_nobody_trusts_is_given_nothing(
    context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with mail_server(context) as server:
        with pytest.raises(NotDelivered):
            await sender().send(DELIVERY, mailbox(server, Security.STARTTLS), MORGAN, LINK, NOW)
    assert server.messages == []


@pytest.mark.parametrize(("answer", "kind"), [("451 later", NotDelivered), ("550 no", NeverTaken)])
async def test_a_refusal_for_now_is_tried_again_and_one_for_ever_is_not(answer: str, kind: type[NotDelivered]) -> None:
    async with mail_server() as server:
        server.answer = answer
        with pytest.raises(NotDelivered) as refused:
            await sender().send(DELIVERY, mailbox(server), MORGAN, LINK, NOW)
    assert type(refused.value) is kind


async def test_a_server_inside_the_network_is_refused_unless_the_channel_allows_it() -> None:
    async with mail_server() as server:
        with pytest.raises(NotDelivered, match="allow_private"):
            await sender().send(DELIVERY, replace(mailbox(server), allow_private=False), MORGAN, LINK, NOW)
    assert server.messages == []
