"""A card that nobody decides in time: passed on once, then expired, which is neither a yes nor a no."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.application import open_application
from console.ports import Application
from console.views import CardState, RunOptions
from contracts import Event, OrderState, Outcome
from governance.errors import CardClosed
from runtime.settings.load import load
from tests.examples.conftest import GOAL
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
HOURS = 3_600


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))  # a clock change in Europe lies within the deadline


@pytest.fixture
async def application(tmp_path: Path, clock: HandClock) -> AsyncIterator[Application]:
    async with open_application(load({"home": str(tmp_path)}, working=tmp_path), clock) as application:
        yield application


async def test_silence_passes_a_card_on_and_then_expires_it(
    application: Application, clock: HandClock, example: Path
) -> None:
    said = await application.run(example, RunOptions(GOAL), watch=ignore)
    (card,) = said.cards

    clock.advance(1 * HOURS)
    (in_time,) = await application.cards(all_=False)
    clock.advance(1 * HOURS)
    (passed_on,) = await application.cards(all_=False)
    clock.advance(2 * HOURS)
    expired = await application.card(card.card.card_id)
    ended = await application.resume(said.execution_id, watch=ignore)

    assert (in_time.who, passed_on.who) == (("duty-managers",), ("operations-director",))
    assert passed_on.deciders == ("operations-director",)
    assert (expired.state, expired.outcome) == (CardState.CLOSED, Outcome.EXPIRED)
    assert ended.state is OrderState.DONE
    assert [(each.card.card_id, each.outcome) for each in ended.decided] == [(card.card.card_id, Outcome.EXPIRED)]
    assert isinstance(ended.output, dict) and ended.output["decision"] == "expired"
    assert [product.title for product in ended.products] == ["Cancellations of 2013-02-08", "Decision about 2013-02-08"]


async def test_a_late_click_is_told_that_it_is_late(application: Application, clock: HandClock, example: Path) -> None:
    said = await application.run(example, RunOptions(GOAL), watch=ignore)
    clock.advance(5 * HOURS)
    await application.cards(all_=False)
    clock.advance(5 * HOURS)

    with pytest.raises(CardClosed, match="expired"):
        await application.decide(said.cards[0].card.card_id, option="notify", reason="", by="operations-director")
