"""What tokens of a model cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from contracts import Money, Usage

PER_TOKENS = 1_000_000
"""Prices are for so many tokens, as providers write them."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of one model cost, in one currency."""

    tokens_in: Money
    tokens_out: Money

    def __post_init__(self) -> None:
        if self.tokens_in.currency != self.tokens_out.currency:
            raise ValueError(f"prices are in one currency, not {self.tokens_in} in and {self.tokens_out} out")

    def of(self, tokens_in: int, tokens_out: int) -> Money:
        """Return what so many tokens cost, exactly."""
        amount = self.tokens_in.amount * tokens_in + self.tokens_out.amount * tokens_out
        return Money(amount=(amount / Decimal(PER_TOKENS)).normalize(), currency=self.tokens_in.currency)


def usage_of(tokens_in: int, tokens_out: int, price: Price | None) -> Usage:
    """Return what an answer took; without a price, its tokens alone."""
    money = () if price is None else (price.of(tokens_in, tokens_out),)
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out, money=tuple(each for each in money if each.amount))


Prices = Mapping[str, Price]
"""Name of a model → what it costs."""
