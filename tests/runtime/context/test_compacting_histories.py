"""What holds of a compaction over any history: nothing is torn, lost or told twice."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.context.compacting import Compacted, Unchanged, compact
from runtime.context.compaction import Compaction, applied, tokens_of
from runtime.context.errors import ContextIncompressible
from runtime.context.handing_over import facts_for
from runtime.context.handover import OpenPoint
from runtime.context.handover_faults import faults_of
from runtime.model.port import ModelAnswer, ModelRequest
from runtime.settings import ContextSettings
from tests.fakes.conversations import Conversation, count, said

SETTINGS = ContextSettings()
OPEN = (OpenPoint(id="question/01", kind="question", text="Which runway?"),)
TURNS = st.tuples(
    st.lists(st.integers(10, 6_000), max_size=4),  # results of one answer
    st.integers(0, 1_500),  # words of the model
    st.sampled_from(["", "note", "pinned"]),
    st.booleans(),
    st.sampled_from(["look", "send"]),
)
HISTORIES = st.lists(TURNS, min_size=1, max_size=25)


def built(history: list[tuple[list[int], int, str, bool, str]]) -> Conversation:
    found = Conversation()
    for sizes, words, note, readable, phase in history:
        number = found.turns + 1
        gave = [f"F-call_{number}_{at} " + f"row {number} " * (size // 6) for at, size in enumerate(sizes, 1)]
        found.turn(*gave, words="so " * (words // 3), readable=readable, phase=phase)
        if note:
            found.messages.append(said(f"{note} {number}", pinned=note == "pinned"))
    return found


async def answer(_: ModelRequest) -> ModelAnswer:
    return ModelAnswer("It was looked at.")


@settings(deadline=None, max_examples=60)
@given(HISTORIES, HISTORIES, st.floats(0.7, 1.2), st.booleans())
def test_two_compactions_of_any_history_lose_nothing_and_tear_nothing(
    first: list[tuple[list[int], int, str, bool, str]],
    second: list[tuple[list[int], int, str, bool, str]],
    share: float,
    with_model: bool,
) -> None:
    state, window = Compaction(), 0
    for history in (first, [*first, *second]):
        conversation = built(history)
        window = window or max(1, int(tokens_of(conversation.prompt, count, SETTINGS) / share))
        facts = conversation.facts(open=OPEN)
        asked = compact(
            conversation.prompt, facts, window, count,
            ask=answer if with_model else None, state=state, settings=SETTINGS,
        )  # fmt: skip
        try:
            found = asyncio.run(asked)
        except ContextIncompressible as refused:
            assert refused.facts["blocks"]
            return
        _holds(conversation, state, found)
        state = found.state


def _holds(conversation: Conversation, before: Compaction, found: Compacted | Unchanged) -> None:
    shown = applied(conversation.prompt, found.state, SETTINGS)
    calls = [call.id for each in shown.said for call in each.calls]
    assert calls == [each.answers for each in shown.said if each.answers]
    pinned = [each for each in conversation.messages if any(part.pinned for part in each.parts)]
    assert [each for each in shown.said if any(part.pinned for part in each.parts)] == pinned
    if isinstance(found, Unchanged):
        kept = ("until", "document", "refs", "dropped", "session")
        assert all(getattr(found.state, name) == getattr(before, name) for name in kept)
        return
    assert found.prompt == shown and found.after <= 0.9 * found.before
    document = found.state.document
    if document is not None:
        assert (
            faults_of(
                document, facts_for(conversation.prompt, conversation.facts(open=OPEN), found.state.until), SETTINGS
            )
            == ()
        )
        told = [done.call for phase in document.phases for done in phase.done]
        assert sorted([*told, *calls]) == sorted(deed.call for deed in conversation.deeds)
