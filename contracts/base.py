"""The base class of everything that crosses a boundary, and how another version of it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from contracts.docstrings import describe_properties

Json: TypeAlias = JsonValue
"""Any JSON value. It is cleaned once, where it comes in (`runtime.canonical.clean`), and trusted afterwards."""

NAME_PATTERN = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
STEP_PATTERN = r"^[a-z][a-z0-9_]*$"
CAPABILITY_PATTERN = r"^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"
LANGUAGE_PATTERN = r"^[a-z]{2}$"

Name: TypeAlias = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=64)]
"""The key of an employee, skill, metric, sensor, rule or person: lower case, words joined by hyphens."""

StepId: TypeAlias = Annotated[str, StringConstraints(pattern=STEP_PATTERN, max_length=64)]
"""The key of a step, parameter or option: an identifier, so that expressions can name it."""

CapabilityName: TypeAlias = Annotated[str, StringConstraints(pattern=CAPABILITY_PATTERN, max_length=64)]
"""The name of a capability: `connection.operation` or the name of a built-in one."""

Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
"""A sha256 in lower-case hexadecimal, always over exact stored bytes."""

Text: TypeAlias = str | dict[Annotated[str, StringConstraints(pattern=LANGUAGE_PATTERN)], str]
"""Words for a person: one text, or one for each language (`{en: …, zh: …}`)."""

VERSION_PATTERN = r"^\d+\.\d+$"
_VERSION = re.compile(r"^(\d+)\.(\d+)$")


class UnreadableVersion(ValueError):
    """The data was written under another major version than this program knows."""


class Contract(BaseModel):
    """A value that passes between layers: frozen, closed to unknown fields, versioned.

    Its validator is made when it is first used: no command uses them all, and making each takes half a millisecond.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        ser_json_inf_nan="null",
        allow_inf_nan=False,
        defer_build=True,
    )

    VERSION: ClassVar[str] = "1.0"
    """`major.minor` of this contract, also the default of `schema_version`. A new optional field raises the minor of
    the contract and of those that hold it, anything else the major."""

    schema_version: str = Field(default="1.0", pattern=VERSION_PATTERN)
    """Version of the contract under which this value was written."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        describe_properties(cls, handler.resolve_ref_schema(schema))
        return schema

    @field_validator("schema_version")
    @classmethod
    def _major_is_ours(cls, value: str) -> str:
        if value == cls.VERSION:
            return value
        major, _ = _parts(value)
        if major != _parts(cls.VERSION)[0]:
            raise UnreadableVersion(
                f"{cls.__name__} has schema version {value}; this program reads {cls.VERSION}. "
                "Use the program that wrote it, or upgrade this one."
            )
        return value

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the value that was stored as `data`, also when a newer minor version of the program wrote it.

        Fields that a newer minor version added are passed over for reading; the stored form stays as it is, so a value
        read in this way is never written back in the place of the original. From outside use `model_validate`, which
        refuses unknown fields.
        """
        written = str(data.get("schema_version", cls.VERSION))
        if written == cls.VERSION:
            return cls.model_validate(data)
        newer = bool(_VERSION.match(written)) and _parts(written) > _parts(cls.VERSION)
        return cls.model_validate(data, extra="ignore" if newer else "forbid")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form under the names used outside, without fields that hold nothing."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _parts(version: str) -> tuple[int, int]:
    match = _VERSION.match(version)
    if match is None:
        raise UnreadableVersion(f"{version!r} is not a schema version; it looks like 1.0.")
    return int(match[1]), int(match[2])


class Money(Contract):
    """An amount in one currency."""

    amount: Decimal = Field(ge=0, lt=Decimal(10) ** 15)
    """Exact; never a float. More than anybody has can only be a slip, and could not be reckoned with exactly."""
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    """ISO 4217 code."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the money written as `5 USD`; raise ValueError for anything else."""
        amount, _, currency = text.strip().partition(" ")
        try:
            return cls(amount=Decimal(amount), currency=currency.strip())
        except (ArithmeticError, ValueError) as error:
            raise ValueError(f"{text!r} is not an amount of money; write it as `5 USD`.") from error

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


class Usage(Contract):
    """What was spent."""

    tokens_in: int = Field(default=0, ge=0)
    """Tokens sent to models."""
    tokens_out: int = Field(default=0, ge=0)
    """Tokens received from models."""
    money: tuple[Money, ...] = ()
    """Costs, one entry for each currency."""
    seconds: float = Field(default=0.0, ge=0)
    """Seconds of work, without the time spent waiting for people."""
    steps: int = Field(default=0, ge=0)
    """Steps finished."""

    @classmethod
    def of_step(cls, seconds: float) -> Usage:
        """Return the usage of one step that took nothing but time."""
        return _usage(0, 0, (), seconds, 1)

    def __add__(self, other: Usage) -> Usage:
        return _usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            _total(self.money, other.money) if other.money else self.money,
            self.seconds + other.seconds,
            self.steps + other.steps,
        )

    def since(self, earlier: Usage) -> Usage:
        """Return what was spent since it was `earlier`, which is part of it."""
        if earlier == _NO_USAGE:
            return self
        before = {money.currency: money.amount for money in earlier.money}
        money = (m.model_copy(update={"amount": m.amount - before.get(m.currency, Decimal(0))}) for m in self.money)
        return _usage(
            self.tokens_in - earlier.tokens_in,
            self.tokens_out - earlier.tokens_out,
            tuple(each for each in money if each.amount),
            max(self.seconds - earlier.seconds, 0.0),  # sums of floats differ in their last digit
            self.steps - earlier.steps,
        )


def _usage(tokens_in: int, tokens_out: int, money: tuple[Money, ...], seconds: float, steps: int) -> Usage:
    """Return a usage without checking it, which takes ten times as long: every step adds what it spent."""
    usage = Usage.__new__(Usage)
    values = {
        "schema_version": "1.0", "tokens_in": tokens_in, "tokens_out": tokens_out, "money": money, "seconds": seconds,
        "steps": steps,
    }  # fmt: skip
    for name, value in (
        ("__dict__", values), ("__pydantic_fields_set__", set(values)), ("__pydantic_extra__", None),
        ("__pydantic_private__", None),
    ):  # fmt: skip
        object.__setattr__(usage, name, value)
    return usage


_NO_USAGE = Usage()


def _total(some: tuple[Money, ...], more: tuple[Money, ...]) -> tuple[Money, ...]:
    totals: dict[str, Decimal] = {}
    for money in (*some, *more):
        totals[money.currency] = totals.get(money.currency, Decimal(0)) + money.amount
    return tuple(Money(amount=amount, currency=name) for name, amount in sorted(totals.items()))


class Budget(Contract):
    """What may be spent at most; a field that is absent sets no limit of its own."""

    tokens: int | None = Field(default=None, ge=0)
    """Tokens, in and out together."""
    money: Money | None = None
    """Costs of models and paid services."""
    seconds: float | None = Field(default=None, gt=0)
    """Seconds of work."""
    steps: int | None = Field(default=None, ge=1)
    """Steps of all plans together."""
