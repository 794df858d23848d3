"""Whether a prompt fits is known before it is paid for, and what endpoints tell corrects the next estimate."""

from __future__ import annotations

import re

import pytest

from runtime.context.budget import Gauge, Squeeze, exceeded, text_of
from runtime.context.parts import Part
from runtime.context.prompt import Prompt, Said
from runtime.context.tokens import count
from runtime.model.port import ModelRequest

pytestmark = pytest.mark.anyio
WORDS = ModelRequest("reason", [{"role": "user", "content": "word " * 1_000}])
EXACT = count(text_of(WORDS), "gpt-4o").tokens


async def test_a_request_fits_exactly_as_far_as_there_is_room() -> None:
    gauge = Gauge()

    assert await gauge.fits(WORDS, model="gpt-4o", room=EXACT)
    assert not await gauge.fits(WORDS, model="gpt-4o", room=EXACT - 1)


async def test_a_model_nobody_knows_gets_room_for_the_error_of_the_estimate() -> None:
    assert not await Gauge().fits(WORDS, model="nobodys-own", room=EXACT)
    assert await Gauge().fits(WORDS, model="nobodys-own", room=EXACT * 2)


async def test_what_an_endpoint_tells_corrects_the_next_estimate() -> None:
    gauge = Gauge()
    for _ in range(3):
        await gauge.fits(WORDS, model="nobodys-own", room=EXACT)
        gauge.took("nobodys-own", EXACT)

    assert await gauge.fits(WORDS, model="nobodys-own", room=EXACT)


async def test_text_that_holds_marks_of_a_protocol_is_counted_as_text() -> None:
    marked = ModelRequest("reason", [{"role": "user", "content": "<|endoftext|>" * 300}])

    assert not await Gauge().fits(marked, model="gpt-4o", room=300)


def test_what_gives_way_comes_in_the_order_of_the_specification() -> None:
    assert [each.name for each in Squeeze] == ["NOTHING", "SAMPLES", "WHOLE", "INDEX", "TRANSCRIPT", "MEMORY"]


def test_a_prompt_that_cannot_fit_says_what_it_holds() -> None:
    prompt = Prompt((Said("system", (Part("rules", "x" * 50, "the platform"), Part("goal", "y" * 900, "the order"))),))

    request = ModelRequest("reason", prompt.messages, tools=[{"name": "look", "description": "z" * 2_000}])

    error = exceeded(prompt, request, room=100)

    assert error.code == "PROMPT_BUDGET_EXCEEDED"
    assert (
        re.search(r"characters: tools 2,0\d\d, goal 900, rules 50\.", error.message) and "`material`" in error.message
    )
