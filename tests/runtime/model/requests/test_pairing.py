"""Whether messages make a conversation that endpoints take."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.model.requests import RequestUnfit
from runtime.model.requests.pairing import check, faults_of

JOB: dict[str, Any] = {"role": "user", "content": "Go."}


def a_call(ident: Any = "c1", name: str = "look", arguments: str = "{}") -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(ident: Any = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": "1"}


def told(*messages: Any) -> list[str]:
    return [str(fault) for fault in faults_of([JOB, *messages])]


@st.composite
def histories(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Return blocks: words of either side, or an answer with its calls and their results in any order."""
    blocks: list[list[dict[str, Any]]] = []
    for number, calls in enumerate(draw(st.lists(st.integers(0, 4), max_size=6))):
        ids = [f"c{number}_{place}" for place in range(calls)]
        if calls:
            order = draw(st.permutations(ids))
            blocks.append([calling(*map(a_call, ids)), *map(result, order)])
        else:
            blocks.append([{"role": draw(st.sampled_from(["user", "assistant"])), "content": "Words."}])
    return blocks


@given(histories(), st.data())
def test_a_cut_is_told_exactly_when_it_parts_calls_from_results(blocks: Any, data: st.DataObject) -> None:
    """X1: at every cut of a random history with parallel calls."""
    flat = [message for block in blocks for message in block]
    start = data.draw(st.integers(0, len(flat)))
    end = data.draw(st.integers(start, len(flat)))
    edges = {0}
    for block in blocks:
        edges.add(max(edges) + len(block))

    whole = start == end or (start in edges and end in edges)
    assert (faults_of([JOB, *flat[start:end]]) == ()) is whole


@given(histories(), st.data())
def test_any_call_or_result_that_is_taken_out_doubled_or_moved_is_told(blocks: Any, data: st.DataObject) -> None:
    flat = [JOB, *(copy.deepcopy(message) for block in blocks for message in block)]
    paired = [place for place, message in enumerate(flat) if message["role"] == "tool" or "tool_calls" in message]
    if not paired:
        return
    place = data.draw(st.sampled_from(paired))
    harm = data.draw(st.sampled_from(["out", "twice", "last"]))
    message = flat.pop(place)
    if harm == "twice":
        flat[place:place] = [message, message]
    elif harm == "last":
        flat += [JOB, message]

    assert faults_of(flat)


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([calling(a_call())], ["Message 2: The call c1 of look has no result."]),
        ([result()], ["Message 2: This is the result of the call c1, which is not there."]),
        ([calling(a_call()), result(), result()], ["Message 4: This is a second result of the call c1"]),
        ([calling(a_call(), a_call()), result()], ["Message 2: The call c1 has the id of an earlier one."]),
        ([calling(a_call()), JOB, result()], ["Message 2: The call c1 of look has no", "Message 4: This is a second"]),
        ([calling(a_call(None))], ["Message 2: A call has no id."]),
        ([calling(a_call("c" * 41)), result("c" * 41)], ["Message 2: The id c"]),
        ([calling(a_call(arguments='{"a":')), result()], ["Message 2: The arguments of the call of look are no JSON"]),
        ([calling(a_call(arguments="[]")), result()], ["Message 2: The arguments of the call of look are no JSON"]),
        ([calling()], ["Message 2: It says nothing and calls nothing.", "Message 2: Its tool_calls are no list"]),
        ([{"role": "assistant", "content": " \n"}], ["Message 2: It says nothing and calls nothing. Leave it out."]),
        ([{"role": "assistant"}], ["Message 2: It says nothing and calls nothing. Leave it out."]),
        ([{"role": "user", "content": ""}], ["Message 2: It is empty."]),
        ([{"role": "user", "content": 3}], ["Message 2: Its content is neither text nor a list of parts."]),
        ([{"role": "robot", "content": "x"}], ["Message 2: The role 'robot' is not known. There is: system,"]),
        (["Go."], ["Message 2: It is no object with a role."]),
        ([{**JOB, "name": "a b"}], ["Message 2: The name 'a b' is none that endpoints take"]),
        ([{**JOB, "content": "x" * 10_000_001}], ["Message 2: It holds 10,000,001 characters"]),
        ([JOB] * 2_048, ["There are 2,049 messages, and 2,048 are the most."]),
    ],
)
def test_each_fault_names_its_message_and_what_to_mend(messages: Any, faults: list[str]) -> None:
    found = told(*messages)

    assert len(found) == len(faults)
    assert all(fault.startswith(begins) for fault, begins in zip(found, faults, strict=True)), found


def test_a_request_without_its_job_is_refused() -> None:
    """X3: what compaction swallowed is missed before a call is paid for."""
    assert "no message of the role user" in str(faults_of([{"role": "system", "content": "Rules."}])[0])


def test_all_faults_are_told_at_once_in_one_error_of_ours() -> None:
    with pytest.raises(RequestUnfit, match=r"^The request was not sent\. Message 2: .* Message 3: ") as refused:
        check([JOB, calling(a_call()), {"role": "assistant", "content": ""}])

    assert [fault.message for fault in refused.value.faults] == [2, 3]
    assert refused.value.problem().code == "REQUEST_UNFIT"


def test_a_conversation_with_images_and_empty_results_is_one() -> None:
    seen = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}

    check([JOB, seen, calling(a_call()), {**result(), "content": ""}])
