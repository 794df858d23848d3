from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from contracts import Effect, Json, Parameter, PlanDefinition, Step, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check import PlanFault, check_plan


def spec(name: str, parameters: Mapping[str, ValueType], gives: Mapping[str, Json], **more: Any) -> CapabilitySpec:
    declared = {key: Parameter(type=type_) for key, type_ in parameters.items()}
    return CapabilitySpec(name, "test", "", declared, gives, **more)


STRING, NUMBER, ANY = ValueType.STRING, ValueType.NUMBER, ValueType.ANY
SPECS = {
    each.name: each
    for each in [
        spec("query", {"sql": STRING}, {"rows": "array", "n": "integer"}, resources=("sql",), open_arguments=True),
        spec("script", {"script": STRING}, {"result": "any"}, resources=("script",), open_arguments=True),
        spec("pay", {"amount": NUMBER}, {"id": "string"}, effect=Effect.IRREVERSIBLE),
        spec("blackboard.read", {"key": STRING}, {}),
        spec("blackboard.write", {"key": STRING, "value": ANY}, {}, effect=Effect.IDEMPOTENT),
    ]
}
QUERY = {"id": "m", "use": "query", "with": {"sql": "SELECT 1"}}


def check(*steps: Mapping[str, Any], merging: Collection[str] = (), **plan: Any) -> list[PlanFault]:
    def gives_of(step: Step) -> Mapping[str, Json] | None:
        return step.gives or (SPECS[step.use].gives if step.use in SPECS else None)

    return check_plan(
        PlanDefinition.model_validate({"steps": steps, **plan}),
        specs=SPECS,
        gives_of=gives_of,
        skills={"count": {"day": Parameter(type=ValueType.DATE)}},
        employees={"analyst"},
        merging=merging,
    )


def only(faults: list[PlanFault]) -> PlanFault:
    assert len(faults) == 1, faults
    return faults[0]


def test_a_sound_plan_has_no_faults() -> None:
    assert not check(
        {**QUERY, "accept": ["n > 0", "m.n > 0", "rows.size() > 0"], "with": {"sql": "SELECT 1", "at": "{{ at }}"}},
        {
            "id": "p",
            "use": "script",
            "with": {"script": "x", "rows": "{{ m.rows[*].x }}"},
            "accept": ["result.a.b == 1"],
        },
        {"id": "g", "parallel": [{"id": "a", "skill": "count", "with": {"day": "{{ day }}"}}, {**QUERY, "id": "b"}]},
        {"id": "each", "for_each": "{{ m.rows }}", "use": "pay", "with": {"amount": "{{ item.x }}"}},
        {"id": "last", "use": "script", "with": {"script": "x", "a": "{{ g.b.rows }}", "b": "{{ each[0].id }}"}},
        {"id": "act", "when": "p.result.ok", "order": "{{ p.result.action }}"},
        {
            "id": "think",
            "react": "Look at {{ m.rows }}",
            "tools": ["query", "pay"],
            "with": {"amount": "{{ m.n }}", "x": 1},
        },
        parameters={"at": {"type": "date-time"}, "day": {"type": "date"}},
        gives={"x": "{{ last.result }}"},
        accept=["m.n > 0"],
    )


@pytest.mark.parametrize(
    ("step", "place", "words"),
    [
        (
            {"use": "script", "with": {"script": "x", "a": "{{ m.table }}"}},
            ("with", "a"),
            "`m.table` is not given by `m`.",
        ),
        (
            {"use": "script", "with": {"script": "x", "a": "{{ m.n.x }}"}},
            ("with", "a"),
            "`m.n` is integer and has no field",
        ),
        (
            {"use": "script", "with": {"script": "x", "a": "{{ m.rows.x }}"}},
            ("with", "a"),
            "`m.rows` is a list and has no",
        ),
        (
            {"use": "script", "with": {"script": "x", "a": ["{{ q.x }}"]}},
            ("with", "a", 0),
            "There is no parameter or step",
        ),
        ({"use": "script"}, ("with",), "`script` needs `script` (string)."),
        (
            {"use": "pay", "with": {"amount": "{{ m.rows }}"}},
            ("with", "amount"),
            "must be number, but `{{ m.rows }}` is array",
        ),
        ({"use": "pay", "with": {"amount": "{{ m.rows[*].x }}"}}, ("with", "amount"), "is array"),
        (
            {"use": "pay", "with": {"amount": "much"}},
            ("with", "amount"),
            "`amount` of `pay` must be a number, not 'much'.",
        ),
        ({"use": "pay", "with": {"amount": 1, "sum": 2}}, ("with", "sum"), "`pay` has no parameter `sum`."),
        ({"use": "pey", "with": {"amount": 1}}, ("use",), "There is no capability `pey`."),
        ({"skill": "coumt"}, ("skill",), "There is no skill `coumt`."),
        ({"skill": "count"}, ("with",), "`count` needs `day` (date)."),
        ({"use": "query", "by": "analist", "with": {"sql": ""}}, ("by",), "There is no employee `analist`."),
        (
            {"use": "query", "with": {"sql": "SELECT {{ m.n }}"}},
            ("with", "sql"),
            "a binding in it could change what it does",
        ),
        (
            {"use": "pay", "with": {"amount": 1}, "effect": "write"},
            ("effect",),
            "`pay` is irreversible; a step cannot make it",
        ),
        (
            {"use": "pay", "with": {"amount": 1}, "compensate": {"use": "unpay"}},
            ("compensate", "use"),
            "no capability `unpay`",
        ),
        ({"use": "pay", "with": {"amount": 1}, "must_call": ["x"]}, ("must_call", 0), "There is no capability `x`."),
        (
            {"use": "pay", "with": {"amount": 1}, "material": {"b": "full"}},
            ("material", "b"),
            "There is no argument `b`.",
        ),
        ({"use": "pay", "with": {"amount": 1}, "when": "m.nn > 1"}, ("when",), "`m.nn` is not given by `m`."),
        ({"use": "pay", "with": {"amount": 1}, "when": "false"}, ("when",), "`s` never runs"),
        (
            {"use": "pay", "with": {"amount": 1}, "accept": ["idd == ''"]},
            ("accept", 0),
            "There is no parameter or step `idd`",
        ),
        ({"use": "pay", "with": {"amount": 1}, "after": ["x"]}, ("after", 0), "There is no step `x` to wait for."),
        ({"use": "pay", "with": {"amount": 1}, "after": ["s"]}, ("after", 0), "`s` waits for itself."),
        (
            {"use": "pay", "with": {"amount": 1}, "for_each": "{{ m.n }}"},
            ("for_each",),
            "must be a list, but it is integer.",
        ),
        ({"use": "pay", "with": {"amount": 1}, "for_each": "m.rows"}, ("for_each",), "must be one binding."),
        ({"order": "{{ m.rows }}"}, ("order",), "must be an object, but it is array."),
        ({"use": "query", "with": {"sql": ""}, "until": {"check": "x > 1", "most": 2}}, ("until", "check"), "`x`"),
        (
            {"use": "query", "with": {"sql": ""}, "plausible": [{"check": "n >", "message": ""}]},
            ("plausible", 0, "check"),
            "",
        ),
        (
            {"use": "pay", "with": {"amount": 1}, "otherwise": {"use": "pey"}},
            ("otherwise", "use"),
            "no capability `pey`",
        ),
        ({"use": "query", "with": {"sql": ""}, "gives": {"n": "arr"}}, ("gives", "n"), "`arr` is not a type."),
        ({"use": "query", "with": {"sql": ""}, "gives": {"a": "array"}}, ("gives", "a"), "`query` never gives `a`."),
        ({"ask": {"text": "Is {{ q.x }} right?"}}, ("ask",), "There is no parameter or step `q`"),
        ({"react": "Go.", "tools": ["query", "pey"]}, ("tools", 1), "There is no capability `pey`."),
        ({"react": "Go.", "by": "analyst"}, ("by",), "reasons in `s` itself"),
        ({"react": "Go.", "must_call": ["pey"]}, ("must_call", 0), "There is no capability `pey`."),
        ({"react": "Go.", "must_call": ["count"]}, ("must_call", 0), "`count` is a skill, and `s` does not offer it"),
        ({"react": "Go.", "tools": ["count"]}, ("tools", 0), "`count` is a skill, and `s` does not offer it"),
        (
            {"react": "Go.", "skills": "all", "must_call": ["coumt"]},
            ("must_call", 0),
            "There is no capability `coumt`.",
        ),
        ({"use": "query", "with": {"sql": ""}, "tools": ["pay"]}, ("tools",), "asks no model"),
        (
            {"react": "Go.", "tools": ["pay"], "with": {"amount": "{{ m.rows }}"}},
            ("with", "amount"),
            "must be number, but `{{ m.rows }}` is array.",
        ),
        ({"react": "Go.", "tools": ["query"], "with": {"sql": "x.sql"}}, ("with", "sql"), "only a step with `use`"),
    ],
)
def test_a_fault_of_a_step_is_found_at_its_place(
    step: dict[str, Any], place: tuple[str | int, ...], words: str
) -> None:
    fault = only(check(QUERY, {"id": "s", **step}))

    assert fault.path == ("steps", 1, *place)
    assert words in fault.message


def test_a_ring_is_shown_once_from_its_first_step() -> None:
    fault = only(
        check(
            {"id": "a", "use": "script", "with": {"script": "x", "v": "{{ c.result }}"}},
            {"id": "b", "use": "script", "with": {"script": "x"}, "after": ["a"]},
            {"id": "c", "use": "script", "with": {"script": "x"}, "when": "b.result == 1"},
        )
    )

    assert fault.path == ("steps", 0)
    assert "a → b → c → a" in fault.message


def test_branches_cannot_read_each_other() -> None:
    branches = [{**QUERY, "id": "a"}, {**QUERY, "id": "b", "when": "a.n > 1"}]

    fault = only(check({"id": "g", "parallel": branches}))

    assert fault.path == ("steps", 0, "parallel", 1, "when")
    assert "branches run at the same time" in fault.message


def test_a_branch_is_read_through_its_group() -> None:
    group = {"id": "g", "parallel": [{**QUERY, "id": "a"}, {**QUERY, "id": "b"}]}

    fault = only(check(group, {"id": "s", "use": "script", "with": {"script": "x", "v": "{{ a.rows }}"}}))

    assert (fault.message, fault.hint) == ("`a` is a branch of the group `g`.", "Read it as `g.a`.")


def test_branches_may_write_a_key_that_merges() -> None:
    branches = [{"id": id_, "use": "blackboard.write", "with": {"key": "k", "value": 1}} for id_ in "ab"]
    reading = {"id": "c", "use": "blackboard.read", "with": {"key": "k"}}

    assert check({"id": "g", "parallel": branches}, merging=["k"]) == []
    assert "reads `k`" in only(check({"id": "g", "parallel": [*branches, reading]}, merging=["k"])).message


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"use": "blackboard.read", "with": {"key": "k"}}, "`b` reads `k` from the blackboard while `a` writes it."),
        (
            {"use": "blackboard.write", "with": {"key": "k", "value": 2}},
            "write `k` to the blackboard at the same time.",
        ),
    ],
)
def test_branches_do_not_share_a_key_that_one_writes(second: dict[str, Any], words: str) -> None:
    first = {"id": "a", "use": "blackboard.write", "with": {"key": "k", "value": 1}}

    assert words in only(check({"id": "g", "parallel": [first, {"id": "b", **second}]})).message


def test_faults_of_the_whole_plan_are_found() -> None:
    faults = check(QUERY, gives={"x": "{{ m.nn }}"}, accept=["q.n > 1"])

    assert [fault.path for fault in faults] == [("accept", 0), ("gives", "x")]


def test_the_output_of_a_step_that_nobody_declared_may_hold_anything() -> None:
    assert not check(
        {"id": "think", "react": "Think.", "accept": ["mood == 'good'"]},
        {"id": "s", "use": "script", "with": {"script": "x", "v": "{{ think.why.not }}"}},
    )


LOOP = {"id": "u", "use": "script", "until": {"check": "result == 1", "most": 3}}


def test_a_step_repeated_until_a_check_holds_sees_what_it_gave_before_under_its_own_id() -> None:
    assert not check({**LOOP, "with": {"script": "x", "before": "{{ u }}", "all": "{{ u.result[*].n }}"}})
    paying = {"id": "p", "use": "pay", "with": {"amount": "{{ u }}"}}
    branch = {"id": "b", "use": "script", "with": {"script": "x", "before": "{{ u }}"}}
    assert not check({"id": "u", "parallel": [branch], "until": {"check": "b.result == 1", "most": 3}})
    assert check(QUERY, {**paying, "with": {"amount": "{{ p }}"}})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"with": {"script": "x", "before": "{{ u.result }}"}}, "`u.result` is not there in the first run"),
        ({"with": {"script": "x", "before": "{{ u.reslt }}"}}, "`u.re"),
        ({"with": {"script": "x"}, "when": "u != null"}, "There is no parameter or step `u`"),
        ({"with": {"script": "x"}, "when": "index < 2"}, "There is no parameter or step `index`"),
    ],
)
def test_what_the_first_run_of_a_repeated_step_cannot_have_is_refused(more: dict[str, Any], words: str) -> None:
    assert words in only(check({**LOOP, **more})).message


def test_several_faults_are_told_at_once() -> None:
    assert len(check({"id": "s", "use": "pay", "after": ["x"], "when": "y > 1", "with": {"sum": 1}})) == 4


def test_a_step_after_a_group_may_read_how_a_branch_failed() -> None:
    each = {"id": "c", "use": "pay", "for_each": "{{ g.b.rows }}", "with": {"amount": "{{ item }}"}}
    group = {"id": "g", "parallel": [{**QUERY, "id": "b"}]}
    gives = {"why": "{{ g.b.__error.message }}", "code": "{{ h.c.__error.code }}"}

    assert not check(group, {"id": "h", "parallel": [each]}, gives=gives, accept=["g.b.__error.code == 'X'"])
    assert "is not given by" in only(check(QUERY, gives={"why": "{{ m.__error.message }}"})).message
