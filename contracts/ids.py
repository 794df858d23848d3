"""Ids: made, never guessed. A kind and a ULID, printed so that a person can paste them: `order/01J9…`."""

from __future__ import annotations

import hashlib
import os
import re
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

ULID_PATTERN = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
"""How the part of an id after the slash is written."""

_is_ulid = re.compile(ULID_PATTERN).fullmatch
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [high + low for high in _CROCKFORD for low in _CROCKFORD]


def new_ulid() -> tuple[str, bytes]:
    """Return a fresh ULID, and its 16 bytes; `ULID()` gives the same at ten times the cost."""
    text, stored = _begins(time.time_ns() // 1_000_000)
    chance, pairs = os.urandom(10), _PAIRS
    high, low = int.from_bytes(chance[:5]), int.from_bytes(chance[5:])
    return (
        f"{text}{pairs[high >> 30]}{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
        f"{pairs[low >> 30]}{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}",
        stored + chance,
    )


def ulid_text(number: int) -> str:
    """Return the 26 characters of a ULID."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


@lru_cache(maxsize=4)
def _begins(ms: int) -> tuple[str, bytes]:
    """Return what the ULIDs of one millisecond begin with, as text and as bytes."""
    return ulid_text(ms << 80)[:10], ms.to_bytes(6)


class Id(str):
    """A checked id. Each subclass names its kind; the text form is `kind/ULID`."""

    __slots__ = ()
    KIND: ClassVar[str]

    def __new__(cls, value: str) -> Self:
        """Return `value` as an id; raise ValueError when it is not one of this kind."""
        kind, slash, ulid = value.partition("/")
        if not slash or kind != cls.KIND:
            raise ValueError(f"{value!r} is not an id of the kind {cls.KIND}; it looks like {cls.KIND}/01J9….")
        if not _is_ulid(ulid):
            if _is_ulid(ulid.upper()):
                raise ValueError(f"{value!r}: a ULID is written in capitals.")
            raise ValueError(
                f"{value!r}: the part after {cls.KIND}/ is not a ULID, which has 26 capital letters and digits."
            )
        return super().__new__(cls, value)

    @classmethod
    def new(cls) -> Self:
        """Return a fresh id; ids made later sort later, to the millisecond."""
        return super().__new__(cls, f"{cls.KIND}/{new_ulid()[0]}")

    @property
    def ulid(self) -> str:
        """The part after the kind."""
        return self.partition("/")[2]

    @property
    def made_at(self) -> datetime:
        """The moment it was made, to the millisecond, UTC."""
        ms = 0
        for letter in self.ulid[:10]:
            ms = ms << 5 | _CROCKFORD.index(letter)
        return datetime.fromtimestamp(ms / 1000, UTC)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(), serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{cls.KIND}/{ULID_PATTERN[1:]}"}


class ExecutionId(Id):
    """One run of one request."""

    KIND = "execution"


class OrderId(Id):
    """One task order."""

    KIND = "order"


class CardId(Id):
    """One decision card."""

    KIND = "card"


class DecisionId(Id):
    """One decision on a card."""

    KIND = "decision"


class DelegationId(Id):
    """One delegation of cards from a person to another."""

    KIND = "delegation"


class QuestionId(Id):
    """One question to a person."""

    KIND = "question"


class NotificationId(Id):
    """One message to people."""

    KIND = "notification"

    @classmethod
    def under(cls, *names: str) -> Self:
        """Return the id of what is told under a key, the same each time: it is told once."""
        digest = hashlib.sha256("\n".join(names).encode()).digest()
        return cls(f"{cls.KIND}/{ulid_text(int.from_bytes(digest[:16]))}")


class DeliveryId(Id):
    """One message on its way to one person by one channel."""

    KIND = "delivery"

    @classmethod
    def under(cls, *names: str) -> Self:
        """Return the id of what is delivered under a key, the same each time: receivers tell a second one by it."""
        digest = hashlib.sha256("\n".join(names).encode()).digest()
        return cls(f"{cls.KIND}/{ulid_text(int.from_bytes(digest[:16]))}")


class EventId(Id):
    """One event of the ledger."""

    KIND = "event"


class EvidenceId(Id):
    """One sealed evidence package."""

    KIND = "evidence"


class ProductId(Id):
    """One data product."""

    KIND = "product"


class FindingId(Id):
    """One finding."""

    KIND = "finding"


class SignalId(Id):
    """One signal of a sensor."""

    KIND = "signal"


class AlertId(Id):
    """One alert."""

    KIND = "alert"


class SilenceId(Id):
    """One silence over alerts."""

    KIND = "silence"


class MemoryId(Id):
    """A memory record."""

    KIND = "memory"

    @classmethod
    def under(cls, moment: datetime, *names: str) -> Self:
        """Return the id of what comes of these at a moment, the same each time: it is written once.

        Like any other it sorts by its moment.
        """
        chance = int.from_bytes(hashlib.sha256("\n".join(names).encode()).digest()[:10])
        return cls(f"{cls.KIND}/{ulid_text(int(moment.timestamp() * 1000) << 80 | chance)}")


class PatchId(Id):
    """One proposed change to an agent."""

    KIND = "patch"


class ReleaseId(Id):
    """One release of an agent."""

    KIND = "release"


class CertificateId(Id):
    """One certificate of a release."""

    KIND = "certificate"


class SlotId(Id):
    """One place to work on a node."""

    KIND = "slot"


class TokenId(Id):
    """One bearer token."""

    KIND = "token"


class NodeId(Id):
    """One machine of the cluster."""

    KIND = "node"


class CallId(Id):
    """One call that was handed to a bridge."""

    KIND = "call"


def asked_id(text: str) -> CardId | QuestionId:
    """Return the id of what a person is asked, a card or a question; raise ValueError for anything else."""
    return CardId(text) if text.startswith(f"{CardId.KIND}/") else QuestionId(text)
