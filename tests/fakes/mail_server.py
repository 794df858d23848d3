"""A real mail server on this machine that keeps what it is given."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import partial
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class MailServer:
    """What came in, and what is said about it."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    answer: str = "250 OK"
    implicit: bool = False
    """Whether nobody gets in but over TLS."""

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        """Keep a message, or refuse it."""
        if self.answer.startswith("250"):
            made = message_from_bytes(envelope.content or b"", policy=default)  # type: ignore[arg-type]
            self.messages.append(made)
            self.recipients += envelope.rcpt_tos
            self.encrypted.append(self.implicit or session.ssl is not None)
        return self.answer

    def authenticator(self, _server: SMTP, _session: Session, _envelope: Envelope, _way: str, data: Any) -> AuthResult:
        """Let everybody in, and keep who it was."""
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=True)


@asynccontextmanager
async def mail_server(context: ssl.SSLContext | None = None, *, implicit: bool = False) -> AsyncIterator[MailServer]:
    """Serve on a free port; with a context over TLS, from the start where `implicit`."""
    server = MailServer(implicit=implicit)
    made = partial(
        SMTP, server, hostname="mail.example", tls_context=None if implicit else context,
        authenticator=server.authenticator, auth_require_tls=context is not None and not implicit,
        loop=asyncio.get_running_loop(),
    )  # fmt: skip
    listening = await asyncio.get_running_loop().create_server(
        made, "127.0.0.1", 0, ssl=context if implicit else None
    )  # fmt: skip
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await listening.wait_closed()
