"""Compaction does what is due, loses nothing, is worth it or changes nothing, and says when nothing helps."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from runtime.canonical import sha256
from runtime.context.compacting import Compacted, Unchanged, Why, compact, trimmed
from runtime.context.compaction import Compaction, Tier, applied, tokens_of
from runtime.context.compress import Ask
from runtime.context.errors import ContextIncompressible
from runtime.context.handing_over import facts_for
from runtime.context.handover import Facts, OpenPoint
from runtime.context.handover_faults import faults_of
from runtime.context.parts import Form, Part
from runtime.context.prompt import Prompt, Said
from runtime.errors import LedgerUnavailable, NetworkFault
from runtime.model.port import ModelAnswer, ModelRequest
from runtime.settings import ContextSettings
from tests.fakes.conversations import REQUEST, RULE, Conversation, count, long_one, said
from tests.fakes.model import ScriptedModel

pytestmark = pytest.mark.anyio
SETTINGS = ContextSettings()
START = Compaction()


def window_at(found: Conversation, share: float) -> int:
    """Return the window of which the conversation takes that share."""
    return int(tokens_of(found.prompt, count, SETTINGS) / share)


async def run(
    found: Conversation,
    share: float,
    *,
    ask: Ask | None = None,
    state: Compaction = START,
    facts: Facts | None = None,
    window: int | None = None,
    **more: Any,
) -> Compacted | Unchanged:
    given = found.facts() if facts is None else facts
    room = window_at(found, share) if window is None else window
    return await compact(found.prompt, given, room, count, ask=ask, state=state, settings=SETTINGS, **more)


def shown_whole(result: Compacted) -> list[str]:
    return [each.answers for each in result.prompt.said if each.answers]


async def says_so(_: ModelRequest) -> ModelAnswer:
    return ModelAnswer("The delays were looked at, day by day.")


async def test_below_the_first_share_nothing_is_done() -> None:
    found = await run(long_one(12), 0.74)

    assert isinstance(found, Unchanged) and (found.why, found.tier) == (Why.NOT_DUE, Tier.NONE)


async def test_a_compaction_goes_down_to_its_share_and_keeps_pinned_messages_and_the_newest() -> None:
    conversation = long_one(40)
    found = await run(conversation, 0.86)

    assert isinstance(found, Compacted) and found.tier is Tier.COMPACT
    assert found.after <= 0.30 * window_at(conversation, 0.86)
    assert [part.text for part in found.prompt.parts][:2] == [RULE, REQUEST]
    assert found.prompt.said[-6:] == conversation.prompt.said[-6:]
    assert found.state.session == 0


async def test_each_result_is_whole_in_the_transcript_or_told_by_the_document_never_both() -> None:
    conversation = long_one(30, parallel=3)
    found = await run(conversation, 0.9)

    assert isinstance(found, Compacted) and found.state.document is not None
    told = [done.call for phase in found.state.document.phases for done in phase.done]
    assert sorted([*told, *shown_whole(found)]) == sorted(deed.call for deed in conversation.deeds)


async def test_every_value_every_effect_and_every_open_point_is_there_afterwards() -> None:
    conversation = long_one(30)
    conversation.deeds[3] = replace(conversation.deeds[3], effect=True)
    waiting = OpenPoint(id="card/01", kind="blocker", text="The mail waits for an approval.")
    found = await run(conversation, 0.9, facts=conversation.facts(open=(waiting,)))

    assert isinstance(found, Compacted) and found.state.document is not None
    text = "\n".join(part.text for part in found.prompt.parts)
    assert all(value in text for deed in conversation.deeds for value in deed.values)
    assert found.state.document.open == (waiting,)
    assert [done.evidence for phase in found.state.document.phases for done in phase.done if done.effect] == [
        conversation.deeds[3].evidence
    ]


async def test_light_tiers_by_code_come_first_and_ask_no_model() -> None:
    conversation = long_one(8, size=4_000)
    model = ScriptedModel()
    found = await run(conversation, 0.76, ask=model.ask)

    assert isinstance(found, Compacted) and (found.tier, found.state.until) == (Tier.LIGHT, 0)
    assert model.requests == []
    forms = [part.form for each in found.prompt.said for part in each.parts if each.answers]
    assert forms == [Form.SUMMARY] * 5 + [Form.FULL] * 3


async def test_long_data_that_nobody_could_read_again_stays_whole() -> None:
    conversation = long_one(8, size=4_000)
    facts = replace(conversation.facts(), deeds=tuple(replace(deed, ref=None) for deed in conversation.deeds))
    found = await run(conversation, 0.76, facts=facts)

    assert found.state.refs == ()


async def test_memories_that_have_little_to_do_with_the_task_go() -> None:
    conversation = long_one(2)
    memories = [Part("memory", f"memory {number} " + "x" * 2_000, f"memory {number}") for number in range(3)]
    conversation.messages[0] = Said("system", (*conversation.messages[0].parts, *memories))
    facts = conversation.facts(relevance={"memory 0": 0.9, "memory 1": 0.1, "memory 2": 0.3})
    found = await run(conversation, 0.78, facts=facts)

    assert isinstance(found, Compacted) and found.state.dropped == ("memory 1",)


async def test_turns_beyond_the_newest_ten_become_a_few_words_each_ten_turns() -> None:
    conversation = long_one(35)
    model = ScriptedModel(ModelAnswer("Wished: the cause. Decided: to look day by day. Open: the runway."))
    found = await run(conversation, 0.81, ask=model.ask)

    assert isinstance(found, Compacted) and found.tier is Tier.WARN
    assert len(shown_whole(found)) == 10
    assert "at most 600 characters" in model.requests[0].messages[0]["content"]
    assert found.state.document is not None
    assert found.state.document.phases[0].words.startswith("Wished: the cause.")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (NetworkFault("The endpoint cannot be reached."), "cannot be reached"),
        (ModelAnswer("Flight EWR-999 was the worst."), "EWR-999"),
        (ModelAnswer(""), "empty"),
    ],
)
async def test_without_usable_words_of_a_model_code_alone_makes_the_document(
    answer: ModelAnswer | Exception, why: str
) -> None:
    found = await run(long_one(40), 0.9, ask=ScriptedModel(answer).ask)

    assert isinstance(found, Compacted) and found.state.document is not None
    assert found.state.document.phases[0].words == ""
    assert why in found.wordless[0]


async def test_what_the_ledger_could_not_record_stops_the_try() -> None:
    with pytest.raises(LedgerUnavailable):
        await run(long_one(40), 0.9, ask=ScriptedModel(LedgerUnavailable("The database is gone.")).ask)


async def test_what_is_more_than_a_request_to_the_model_holds_is_worded_in_pieces() -> None:
    settings = ContextSettings(condense_piece_chars=20_000)
    conversation = long_one(60)
    model = ScriptedModel(*[ModelAnswer("Days were looked at.")] * 8)
    room = window_at(conversation, 0.9)
    await compact(conversation.prompt, conversation.facts(), room, count, ask=model.ask, state=START, settings=settings)

    assert len(model.requests) > 1
    assert all(len(request.messages[1]["content"]) < 20_200 for request in model.requests)


async def test_a_second_compaction_tells_everything_since_the_beginning_and_keeps_the_words() -> None:
    conversation = long_one(30, phase="look")
    first = await run(conversation, 0.9, ask=says_so)
    assert isinstance(first, Compacted)
    window = window_at(conversation, 0.9)
    conversation.fill(30, phase="send")
    second = await run(conversation, 0, window=window, state=first.state, ask=says_so)

    assert isinstance(second, Compacted) and second.state.document is not None
    assert second.state.until > first.state.until
    look, send = second.state.document.phases
    assert (look.words, send.words) == ("The delays were looked at, day by day.",) * 2
    assert len(look.done) == 30


async def test_where_the_newest_messages_alone_are_too_much_a_new_session_begins() -> None:
    conversation = long_one(3, size=20_000)
    facts = replace(conversation.facts(), originals=None)
    conversation.messages = [
        replace(each, parts=tuple(replace(part, ref=None) for part in each.parts)) for each in conversation.messages
    ]
    found = await run(conversation, 0.96, facts=facts)

    assert isinstance(found, Compacted) and found.state.session == 1
    assert shown_whole(found) == []
    assert [each.role for each in found.prompt.said] == ["system", "user", "user"]


async def test_a_full_window_that_may_not_be_compressed_fails_and_names_the_floor() -> None:
    conversation = long_one(6, size=400)
    rules = Part("rules", "Never do that. " * 4_000, "the platform", pinned=True)
    conversation.messages[0] = Said("system", (rules,))
    with pytest.raises(ContextIncompressible) as refused:
        await run(conversation, 0.96, beside=300)

    error = refused.value
    assert (error.code, error.facts["blocks"]["rules"]) == ("CONTEXT_INCOMPRESSIBLE", 15_000)  # type: ignore[index,call-overload]
    assert "rules 15,000" in error.message and "tools 300" in error.message
    assert error.facts["floor"] < error.facts["tokens"]  # type: ignore[operator]


async def test_a_useless_try_changes_nothing_and_is_not_repeated_at_every_turn() -> None:
    conversation = long_one(1, size=400)
    conversation.messages[0] = Said("system", (Part("rules", "Be good. " * 400, "the platform", pinned=True),))
    window, state, tried = window_at(conversation, 0.76), START, []
    for _ in range(40):
        found = await run(conversation, 0, window=window, state=state, ask=ScriptedModel().ask)
        assert isinstance(found, Unchanged)
        assert (found.state.until, found.state.document, found.state.refs) == (0, None, ())
        tried.append(found.why)
        state = found.state
        conversation.messages.append(said("."))

    assert tried[0] is Why.USELESS and tried.count(Why.USELESS) <= 5
    assert set(tried) == {Why.USELESS, Why.RESTING}


async def test_a_document_with_a_fault_is_not_used() -> None:
    conversation = long_one(40)
    twice = (*conversation.deeds, replace(conversation.deeds[0], gave="another", values=("Q-17",)))
    found = await run(conversation, 0.9, facts=replace(conversation.facts(), deeds=twice))

    assert isinstance(found, Unchanged) and found.why is Why.FAULTY and found.faults
    assert found.state == START.failed(len(conversation.messages), Tier.COMPACT, SETTINGS)


async def test_a_full_window_with_a_document_that_has_faults_fails() -> None:
    conversation = long_one(40)
    twice = (*conversation.deeds, replace(conversation.deeds[0], gave="another", values=("Q-17",)))
    with pytest.raises(ContextIncompressible, match="has faults"):
        await run(conversation, 0.96, facts=replace(conversation.facts(), deeds=twice))


@pytest.mark.parametrize("seed", range(10))
async def test_200_messages_that_arrive_while_a_run_compacts_follow_the_document_once(seed: int) -> None:
    chance = random.Random(seed)
    conversation, waiting, state = long_one(20, size=800), [f"note {number}" for number in range(200)], START
    window = window_at(conversation, 0.9)

    async def ask(_: ModelRequest) -> ModelAnswer:
        for _ in range(chance.randint(0, 5)):
            arrive()
            await asyncio.sleep(0)
        return ModelAnswer("Days were looked at.")

    def arrive() -> None:
        for _ in range(chance.randint(0, 6)):
            if waiting:
                conversation.messages.append(said(waiting.pop(0)))

    while waiting:
        arrive()
        conversation.fill(1, size=700, words="On we go. " * 30)
        found = await run(conversation, 0, window=window, state=state, ask=ask)
        state = found.state

    shown = applied(conversation.prompt, state, SETTINGS)
    assert state.until > 0 and state.document is not None
    told = [text for phase in state.document.phases for text in phase.told]
    later = [part.text for each in shown.said for part in each.parts if part.text.startswith("note ")]
    assert [*told, *later] == [f"note {number}" for number in range(200)]


async def test_rules_survive_three_compactions_word_by_word_and_first() -> None:
    conversation, state = long_one(40), START
    for _ in range(3):
        found = await run(conversation, 0, window=8_000, state=state)
        assert isinstance(found, Compacted)
        state = found.state
        assert found.prompt.said[:2] == conversation.prompt.said[:2]
        conversation.fill(40)


async def test_the_transcript_is_trimmed_by_code_to_so_many_messages() -> None:
    conversation = long_one(30)
    state = trimmed(conversation.prompt, conversation.facts(), START, keep=12, settings=SETTINGS)
    shown = applied(conversation.prompt, state, SETTINGS)

    assert len(shown.said) == 2 + 1 + 12
    mine = facts_for(conversation.prompt, conversation.facts(), state.until)
    assert state.document is not None and faults_of(state.document, mine, SETTINGS) == ()
    assert trimmed(conversation.prompt, conversation.facts(), state, keep=12, settings=SETTINGS) == state


async def test_the_only_message_of_a_user_is_never_swallowed() -> None:
    conversation = long_one(40)
    task = Part("task", REQUEST, "a sensor")
    conversation.messages[1] = Said("user", (task,))
    found = await run(conversation, 0.9)

    assert isinstance(found, Compacted) and found.prompt.said[1].parts == (task,)
    assert found.state.document is not None and found.state.document.request == REQUEST


async def test_a_word_of_one_conversation_is_in_no_document_of_another() -> None:
    async def one(number: int) -> tuple[str, str]:
        conversation, word = long_one(30), sha256(str(number))[:12]
        conversation.turn(f"canary {word}", words=word)
        conversation.deeds[-1] = replace(conversation.deeds[-1], values=(word,))
        conversation.fill(6)
        found = await run(conversation, 0.9, ask=says_so)
        assert isinstance(found, Compacted) and found.state.document is not None
        return word, found.state.document.text() + str(Prompt(found.prompt.said).messages)

    told = await asyncio.gather(*(one(number) for number in range(20)))
    for word, text in told:
        assert word in text
        assert not any(other in text for other, _ in told if other != word)
