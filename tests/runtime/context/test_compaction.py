"""A compacted conversation is shown by a record, whatever arrives beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runtime.canonical import sha256
from runtime.context.compaction import Compaction, Tier, applied, tier_of, tokens_by_block, tokens_of
from runtime.context.handing_over import facts_for, handed_over
from runtime.context.parts import Form, Part
from runtime.context.prompt import Prompt, Said
from runtime.settings import ContextSettings
from tests.fakes.conversations import REQUEST, RULE, Conversation, count, long_one, said

SETTINGS = ContextSettings()


def at(found: Conversation, until: int, **more: object) -> Compaction:
    document = handed_over(facts_for(found.prompt, found.facts(), until), SETTINGS)
    return Compaction(until=until, document=document, **more)  # type: ignore[arg-type]


def texts(prompt: Prompt) -> list[str]:
    return [part.text for part in prompt.parts]


@pytest.mark.parametrize(
    ("tokens", "tier"),
    [
        (95_999, Tier.NONE),
        (96_000, Tier.LIGHT),
        (102_399, Tier.LIGHT),
        (102_400, Tier.WARN),
        (108_799, Tier.WARN),
        (108_800, Tier.COMPACT),
        (121_600, Tier.FULL),
    ],
)
def test_what_is_due_follows_the_share_of_the_window(tokens: int, tier: Tier) -> None:
    assert tier_of(tokens, 128_000, SETTINGS) is tier


@pytest.mark.parametrize("shares", [{"warn_share": 0.7}, {"compact_share": 0.79}, {"full_share": 0.5}])
def test_a_defence_that_would_be_due_before_the_gentler_one_is_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="at least as much"):
        ContextSettings(**shares)  # type: ignore[arg-type]


def test_without_a_compaction_the_prompt_is_as_it_was() -> None:
    prompt = long_one(3).prompt

    assert applied(prompt, Compaction(), SETTINGS) == prompt


def test_the_document_stands_behind_the_task_and_before_what_stays() -> None:
    found = long_one(4)
    shown = applied(found.prompt, at(found, 6), SETTINGS)

    assert texts(shown)[:2] == [RULE, REQUEST]
    assert shown.said[2].parts[0].text.startswith("Hand-over.") and shown.said[2].role == "user"
    assert shown.said[3:] == found.prompt.said[6:]
    assert shown.left_out[-1].origin == "messages 3 to 6"


def test_a_pinned_message_among_those_that_went_stays_behind_the_document() -> None:
    found = long_one(1)
    found.messages.append(said("No mail before noon.", pinned=True))
    found.fill(3)
    shown = applied(found.prompt, at(found, 7), SETTINGS)

    assert [text[:9] for text in texts(shown)[2:4]] == ["Hand-over", "No mail b"]
    assert shown.said[4:] == found.prompt.said[7:]


def test_the_record_comes_back_from_json_and_shows_the_same() -> None:
    found = long_one(4)
    state = at(found, 6, refs=(sha256("x"),), dropped=("memory 1",))

    again = Compaction.model_validate_json(state.model_dump_json())
    assert applied(found.prompt, again, SETTINGS) == applied(found.prompt, state, SETTINGS)


def test_a_long_datum_is_shown_by_reference_and_digest_unless_it_is_pinned() -> None:
    text = '{"rows":[' + ",".join(f'{{"id":{number}}}' for number in range(900)) + "]}"
    ref = sha256(text)
    message = Said("user", (Part("inputs", text, "step weather, with.rows", ref),))
    pinned = Said("user", (Part("task", text, "step weather", ref, pinned=True),))
    state = Compaction(refs=(ref,))

    part = applied(Prompt((message,)), state, SETTINGS).said[0].parts[0]
    assert (part.form, part.ref) == (Form.SUMMARY, ref)
    assert ref in part.text and len(part.text) < 2_000 and '"__stored":true' in part.text
    assert applied(Prompt((pinned,)), state, SETTINGS).said[0] == pinned


def test_a_weak_memory_is_left_out_and_the_prompt_says_so() -> None:
    memory = Part("memory", "It rained in May.", "memory 7")
    message = Said("system", (Part("rules", RULE, "the platform", pinned=True), memory))
    shown = applied(Prompt((message,)), Compaction(dropped=("memory 7",)), SETTINGS)

    assert texts(shown) == [RULE]
    assert (shown.left_out[0].origin, shown.left_out[0].size) == ("memory 7", len(memory.text))


@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 60), st.integers(0, 200), st.data())
def test_what_arrives_after_the_cut_follows_the_document_exactly_once(
    turns: int, parallel: int, until: int, arriving: int, data: st.DataObject
) -> None:
    found = long_one(turns, size=40, parallel=parallel)
    state = at(found, min(until, len(found.messages)))
    before = applied(found.prompt, state, SETTINGS)

    pinned = data.draw(st.sets(st.integers(0, max(0, arriving - 1)), max_size=3))
    found.messages += [said(f"note {number}", pinned=number in pinned) for number in range(arriving)]
    shown = applied(found.prompt, state, SETTINGS)

    assert shown.said[: len(before.said)] == before.said
    assert texts(shown)[len(texts(before)) :] == [f"note {number}" for number in range(arriving)]


def test_the_rest_after_failures_doubles_and_ends_where_the_window_is_full() -> None:
    state = Compaction()
    rests = []
    for _ in range(6):
        state = state.failed(100, Tier.WARN, SETTINGS)
        rests.append(state.rest_until - 100)

    assert rests == [4, 8, 16, 32, 64, 64]
    assert state.rests(163, Tier.LIGHT) and state.rests(163, Tier.WARN) and not state.rests(164, Tier.WARN)
    assert not state.rests(101, Tier.COMPACT) and not state.rests(101, Tier.FULL)


def test_tokens_are_those_of_words_calls_and_messages_with_what_is_sent_beside() -> None:
    found = Conversation()
    found.turn("abcd" * 10, words="efgh")

    by_block = tokens_by_block(found.messages, count, beside=7)
    assert by_block["tools"] == 7 and by_block["rules"] == count(RULE)
    assert tokens_of(found.prompt, count, SETTINGS, beside=7) == sum(by_block.values()) + 4 * 4 + count("sql.query")
