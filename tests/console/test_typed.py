"""Wrong input of a real run is told in words, whatever was typed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from console.application import open_application
from console.parameters import read_values
from console.ports import Application
from console.starter.make import GOAL, make
from console.views import RunOptions
from contracts import Event, Parameter, ValueType
from governance.errors import NotAllowedToDecide
from runtime.errors import InvalidArguments
from runtime.settings.load import load

pytestmark = pytest.mark.anyio


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[Application]:
    make(tmp_path / "bakery")
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        yield application


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (RunOptions(GOAL, at=datetime(1, 1, 1)), "year must lie between 1900 and 9998"),
        (RunOptions(GOAL, at=datetime(9999, 12, 31)), "year must lie between 1900 and 9998"),
        (RunOptions(GOAL, key="k" * 5_000), "The key has 5,000 letters; 200 is the most"),
        (RunOptions(GOAL, key=""), "The key is empty"),
        (RunOptions(GOAL + "x" * 120_000), "The goal has 120,020 letters; 4,000 is the most"),
        (RunOptions(GOAL + "\udcff"), "The goal holds bytes that are no text"),
    ],
)
async def test_a_request_that_cannot_be_is_told_in_words(
    application: Application, tmp_path: Path, options: RunOptions, words: str
) -> None:
    with pytest.raises(InvalidArguments, match=words):
        await application.run(tmp_path / "bakery", options, watch=ignore)


async def test_a_goal_in_an_error_is_short_and_on_one_line(application: Application, tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments) as raised:
        await application.run(tmp_path / "bakery", RunOptions("zzz\n" * 1_000), watch=ignore)

    assert len(raised.value.message.splitlines()[0]) < 300
    assert "--skill" in raised.value.message.splitlines()[0]


async def test_who_may_not_decide_is_told_before_anything_is_written(application: Application, tmp_path: Path) -> None:
    said = await application.run(tmp_path / "bakery", RunOptions(GOAL), watch=ignore)
    (card,) = said.cards
    with pytest.raises(NotAllowedToDecide):
        await application.may_decide(card.card.card_id, by="baker")

    await application.may_decide(card.card.card_id, by="owner")
    with pytest.raises(InvalidArguments, match=r"The reason has 5,000 letters; 4,000 is the most"):
        await application.decide(card.card.card_id, option=None, reason="r" * 5_000, by="owner")

    assert (await application.card(card.card.card_id)).decisions == ()
    assert [row.seconds for row in await application.executions(organisation=None, limit=9)] == [None]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ValueType.NUMBER, "nan"),
        (ValueType.NUMBER, "1e999"),
        (ValueType.INTEGER, "9" * 5_000),
        (ValueType.ARRAY, "[" * 100_000),
        (ValueType.ARRAY, "[NaN]"),
        (ValueType.DATE_TIME, "10000-01-01"),
        (ValueType.MONEY, "NaN USD"),
    ],
)
def test_a_parameter_that_cannot_be_is_told_in_words(kind: ValueType, text: str) -> None:
    with pytest.raises(InvalidArguments):
        read_values({"p": text}, {"p": Parameter(type=kind)})
