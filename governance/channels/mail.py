"""E-mail: the same message as text and as HTML, in which everything from outside is escaped."""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from html import escape

from governance.access.people import Person
from governance.channels.channel import Mailbox, Security
from governance.channels.delivery import Delivery
from governance.channels.errors import NeverTaken, NotDelivered
from runtime.capabilities.http_guard import allowed_address
from runtime.capabilities.secrets import Secrets
from runtime.errors import SiliconError

_NEVER = range(550, 555)
"""Answers to a recipient or message that will not be another one next time (RFC 5321)."""


class MailSender:
    """Hands messages to mail servers, a connection each."""

    def __init__(self, secrets: Secrets, *, timeout_s: float) -> None:
        self._secrets = secrets
        self._timeout_s = timeout_s

    async def send(self, delivery: Delivery, channel: Mailbox, person: Person, link: str, now: datetime) -> None:
        """Return once the server took the message.

        Raises:
            NotDelivered: it did not, or could not be reached, or there is no TLS where it was asked for.
            NeverTaken: it said that it never takes this message.
        """
        import aiosmtplib

        if person.email is None:
            raise NeverTaken(f"{person.id} has no `email` in org.yaml.", channel=channel.name)
        message = mail(delivery, channel, person, link, now)
        try:
            password = self._secrets.get(channel.secret) if channel.secret else None
            async with asyncio.timeout(self._timeout_s):
                client = aiosmtplib.SMTP(
                    hostname=channel.host,
                    sock=await _connected(channel),
                    use_tls=channel.security is Security.TLS,
                    start_tls=channel.security is Security.STARTTLS,
                    tls_context=ssl.create_default_context() if channel.security is not Security.NONE else None,
                    username=channel.user or None,
                    password=password,
                    timeout=self._timeout_s,
                )
                async with client:
                    await client.send_message(message, sender=channel.sender, recipients=[person.email])
        except SiliconError as error:
            raise NotDelivered(error.message, channel=channel.name) from error
        except aiosmtplib.SMTPRecipientsRefused as error:
            codes = [each.code for each in error.recipients]
            raise _refusal(channel, codes[0] if codes else 0, "refused the recipient") from error
        except aiosmtplib.SMTPResponseException as error:
            raise _refusal(channel, error.code, "refused it") from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as error:
            what = f"{channel.host}:{channel.port} did not take it: {str(error) or type(error).__name__}."
            raise NotDelivered(what, channel=channel.name) from error


def mail(delivery: Delivery, channel: Mailbox, person: Person, link: str, now: datetime) -> EmailMessage:
    """Return the message; its id is the same with every try, so that a mailbox can tell a second one."""
    message = EmailMessage()
    message["Subject"] = _line(delivery.title)
    message["From"] = channel.sender
    message["To"] = formataddr((_line(person.name), person.email or ""))
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{delivery.delivery_id.ulid}@{channel.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join(part for part in (delivery.text, link) if part) + "\n")
    message.add_alternative(_html(delivery, link), subtype="html")
    return message


def _html(delivery: Delivery, link: str) -> str:
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in delivery.text.split("\n") if part.strip())
    shown = f'<p><a href="{escape(link, quote=True)}">{escape(link)}</a></p>' if link else ""
    return f"<!doctype html><html><body><h1>{escape(delivery.title)}</h1>{paragraphs}{shown}</body></html>\n"


def _line(text: str) -> str:
    """Return text for a header: one line, nothing that ends it."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


async def _connected(channel: Mailbox) -> socket.socket:
    """Return a connection to the address that was judged, so that a name cannot point elsewhere a moment later."""
    address = await allowed_address(channel.name, channel.host, channel.port, allow_private=channel.allow_private)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(made, (address, channel.port))
    except BaseException:
        made.close()
        raise
    return made


def _refusal(channel: Mailbox, code: int, what: str) -> NotDelivered:
    kind = NeverTaken if code in _NEVER else NotDelivered
    return kind(f"{channel.host} {what} ({code}).", channel=channel.name, status=code)
