import pytest

from agents.cognition.advise import parse_options
from agents.cognition.advise.bound import Binder, readable
from contracts import Json
from runtime.capabilities.port import Origin
from runtime.errors import InvalidArguments

FILE = """
question: Act?
impact: "{{ n }} flights"
options:
  - {id: act, title: no, benefit: b, risk: 2013-02-08, cost: c, do: [{by: notifier, use: desk.notify, with: {on: no}}]}
  - {id: nothing, title: {en: Nothing, zh: 不行动}, benefit: b, risk: r, cost: c}
"""


def test_words_that_look_like_booleans_or_dates_stay_words() -> None:
    act = parse_options({"file": "options.yaml", "text": FILE}).options[0]
    assert (act.title, act.risk, act.do[0].arguments) == ("no", "2013-02-08", {"on": "no"})


def test_doing_nothing_is_always_an_option() -> None:
    text = FILE.replace("- {id: nothing", "- {id: other, do: [{by: a, use: b}]")
    with pytest.raises(InvalidArguments, match="Doing nothing is always an option"):
        parse_options(text)


def test_all_faults_are_told_at_once_with_the_file() -> None:
    text = FILE.replace("benefit: b, risk: 2013-02-08", "chance: 1").replace("question", "ask")
    with pytest.raises(InvalidArguments) as refused:
        parse_options({"file": "options.yaml", "text": text})
    assert refused.value.message.startswith("options.yaml cannot be used.")
    for place in ("question", "ask", "options.0.chance", "options.0.benefit", "options.0.risk"):
        assert f"{place}: " in refused.value.message


@pytest.mark.parametrize("text", ["a: [", "", "3", "[]"])
def test_what_is_no_options_file_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidArguments):
        parse_options(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2013, "2013"), (12_000, "12,000"), (0.5080123, "0.508"), (1234.5, "1,234.5"), (40.0, "40"), (None, "–"),
        ("EWR", "EWR"), (["EWR", "JFK"], "EWR, JFK"), (True, "✓"), ({"a": 1}, "a: 1"), (0.0, "0"),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_people_read_it(value: Json, text: str) -> None:
    assert readable(value) == text


def binder() -> Binder:
    roots: dict[str, Json] = {"measure": {"rows": [{"rate": 0.5078, "n": 472}]}, "n": 3}
    origin = Origin("analyst/measure", "", "a" * 64, "b" * 64, "c" * 64)
    return Binder(roots, {"measure": origin})


def test_a_number_may_have_a_pattern_and_keeps_its_source() -> None:
    bound = binder()
    assert bound.text("{{ measure.rows[0].rate | 0.1% }} of {{ measure.rows[0].n }}") == "50.8 % of 472"
    assert bound.facts["measure.rows[0].rate"] == {
        "value": 0.5078,
        "source": {
            "step": "analyst/measure", "path": "rows.0.rate", "result_sha256": "a" * 64, "query_sha256": "b" * 64,
            "data_sha256": "c" * 64,
        },
    }  # fmt: skip


def test_a_number_without_an_origin_is_an_input() -> None:
    bound = binder()
    assert bound.text({"en": "{{ n }} days", "zh": "{{ n }}天"}) == {"en": "3 days", "zh": "3天"}
    assert bound.facts == {"n": {"value": 3, "source": {"step": "input", "path": "n"}}}


def test_a_pattern_on_what_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="not a number"):
        binder().text("{{ measure.rows | 0.1% }}")


def test_a_text_that_names_what_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="rte"):
        binder().text("{{ measure.rows[0].rte }}")


def test_no_option_is_called_like_the_no_to_all_of_them() -> None:
    with pytest.raises(InvalidArguments, match="`deny` is the no to every option"):
        parse_options(FILE.replace("id: act", "id: deny"))
