"""`channels` of org.yaml, and what people say of them: how they are told outside of the console."""

from __future__ import annotations

import re
from datetime import time
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from agents.organisation.declared import Declared
from contracts import Name, Severity
from governance.channels.channel import Channel, Mailbox, Notify, Quiet, Security, Webhook
from runtime.capabilities.connection_parts import EnvName
from runtime.capabilities.listed_hosts import web_address
from runtime.errors import InvalidArguments

_ADDRESS = re.compile(r"[^@\s<>,;\"()]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_HTTPS = "`url` has to be https, unless `allow_private: true` says that it is in a network of one's own"
_PLAIN = "`security: none` is for a mail server in a network of one's own: say `allow_private: true` too"
_PORTS = {Security.STARTTLS: 587, Security.TLS: 465, Security.NONE: 25}


def mail_address(value: str | None) -> str | None:
    """Return an address of e-mail; raise ValueError for what is none."""
    if value is not None and not _ADDRESS.fullmatch(value):
        raise ValueError(f"{value!r} is no address; write for example duty@example.org")
    return value


class ChannelEntry(Declared):
    """A webhook or a mail server."""

    kind: Literal["webhook", "email"]
    """What it is."""
    url: str | None = None
    """Of a webhook: where messages are posted."""
    secret: EnvName | None = None
    """Name of the secret that a webhook is signed with, or of the mail server's password."""
    host: str | None = Field(default=None, min_length=1)
    """Of a mail server."""
    port: int | None = Field(default=None, ge=1, le=65_535)
    """Absent: 587, 465 with `tls`, 25 with `none`."""
    security: Security = Security.STARTTLS
    """`starttls`, `tls` from the start, or `none` inside a network of one's own."""
    user: str = ""
    """Who logs in to the mail server; absent for nobody."""
    sender: str | None = Field(default=None, alias="from")
    """Address that messages come from."""
    allow_private: bool = False
    """Whether it may be inside a private network or this machine."""

    @field_validator("url")
    @classmethod
    def _is_whole(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                web_address(value, otherwise="an address; write it whole, such as https://hooks.example.org/silicon.")
            except InvalidArguments as error:
                raise ValueError(error.message) from None
        return value

    @field_validator("sender")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        return mail_address(value)

    @model_validator(mode="after")
    def _is_whole_of_its_kind(self) -> Self:
        if self.kind == "webhook":
            _require(self, "url", "secret")
            _refuse(self, "host", "port", "sender", "user")
            if not self.allow_private and not (self.url or "").startswith("https://"):
                raise ValueError(_HTTPS)
            return self
        _require(self, "host", "sender")
        _refuse(self, "url")
        if self.security is Security.NONE and not self.allow_private:
            raise ValueError(_PLAIN)
        if bool(self.user) != bool(self.secret):
            raise ValueError("`user` and `secret` belong together: who logs in, and the name of the password")
        return self

    def channel(self, name: Name) -> Channel:
        """Return it as it is used."""
        if self.kind == "webhook":
            return Webhook(name, self.url or "", self.secret or "", self.allow_private)
        return Mailbox(
            name, self.host or "", self.port or _PORTS[self.security], self.sender or "", self.security, self.user,
            self.secret or "", self.allow_private,
        )  # fmt: skip


class NotifyEntry(Declared):
    """A channel by which a person is told; its name alone is written as `notify: mail`."""

    by: Name
    """The channel."""
    least: Severity = Field(default=Severity.LOW, alias="from")
    """From which severity on: low, medium, high or critical."""

    def notify(self) -> Notify:
        """Return it as it is used."""
        return Notify(self.by, self.least)


def notify_entries(value: object) -> object:
    """Return a list of entries: a name, one entry and a list of both are all meant."""
    listed = value if isinstance(value, list) else [value]
    return [{"by": each} if isinstance(each, str) else each for each in listed]


def clock_time(value: object) -> object:
    """Return the time of the day in `22:00`; YAML reads one without quotes as minutes, 1320."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        return time(value // 60, value % 60)
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is no time of the day; write for example 22:00")
    return time(int(match[1]), int(match[2]))


ClockTime = Annotated[time, BeforeValidator(clock_time)]


class QuietEntry(Declared):
    """Hours in which a person is left alone, in the organisation's time zone."""

    begins: ClockTime = Field(alias="from")
    """When they begin."""
    ends: ClockTime = Field(alias="to")
    """When they end, on the next day where that is earlier."""
    unless: Severity | None = None
    """From this severity on the person is told all the same."""

    def quiet(self) -> Quiet:
        """Return it as it is used."""
        return Quiet(self.begins, self.ends, self.unless)


def _require(entry: ChannelEntry, *names: str) -> None:
    missing = [_written(name) for name in names if not getattr(entry, name)]
    if missing:
        raise ValueError(f"a channel of the kind {entry.kind} needs {', '.join(missing)}")


def _refuse(entry: ChannelEntry, *names: str) -> None:
    given: list[Any] = [_written(name) for name in names if getattr(entry, name)]
    if given:
        raise ValueError(f"a channel of the kind {entry.kind} has no {', '.join(given)}")


def _written(name: str) -> str:
    return "`from`" if name == "sender" else f"`{name}`"
