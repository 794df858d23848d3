from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.attend import LeftOutWhy, rank
from contracts import Severity
from governance.alerts import AlertState, Degree, Hush, HushReason
from runtime.settings import AttentionSettings
from tests.agents.cognition.attend.alerts_for import alert
from tests.governance.alerts.raw import HOUR, START


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ({"severity": Severity.CRITICAL}, {"severity": Severity.HIGH}),
        ({"impact": Degree.HIGH}, {"impact": Degree.LOW}),
        ({"urgency": Degree.HIGH}, {"urgency": Degree.MEDIUM}),
        ({"last_at": START + HOUR}, {"last_at": START}),
        ({"since": START}, {"since": START + HOUR}),
    ],
)
def test_what_is_graver_fresher_weightier_or_waits_longer_comes_first(
    more: dict[str, object], less: dict[str, object]
) -> None:
    first, second = alert(**more), alert(**less)

    assert [each.alert for each in rank([second, first], START + 2 * HOUR).order] == [first, second]


def test_the_score_is_the_sum_of_its_parts() -> None:
    ranked = rank([alert()], START + HOUR).order[0]

    assert ranked.score == pytest.approx(sum(ranked.parts.values()))
    assert set(ranked.parts) == {"severity", "timeliness", "impact", "waiting"}


def test_what_has_no_room_is_listed_in_its_order() -> None:
    settings = AttentionSettings(at_once=2)
    alerts = [alert(START + timedelta(minutes=number)) for number in range(4)]

    attended = rank(alerts, START + HOUR, settings)

    assert [each.alert for each in attended.order] == alerts[:2]
    assert [(each.alert, each.why) for each in attended.left_out] == [
        (alerts[2], LeftOutWhy.NO_ROOM), (alerts[3], LeftOutWhy.NO_ROOM),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"hushes": (Hush(HushReason.SILENCED, "silence/1"),)}, LeftOutWhy.SILENCED),
        ({"hushes": (Hush(HushReason.INHIBITED, "storm"),)}, LeftOutWhy.INHIBITED),
        ({"hushes": (Hush(HushReason.MAINTENANCE, "oven"),)}, LeftOutWhy.MAINTENANCE),
        ({"hushes": (Hush(HushReason.FLAPPING, "6"),)}, LeftOutWhy.FLAPPING),
        ({"state": AlertState.ACKNOWLEDGED, "acknowledged_by": "anna"}, LeftOutWhy.ACKNOWLEDGED),
        ({"state": AlertState.RESOLVED}, LeftOutWhy.OVER),
        ({"attended_at": START}, LeftOutWhy.SEEN_TO),
    ],
)
def test_what_is_not_seen_to_says_why(facts: dict[str, object], why: LeftOutWhy) -> None:
    assert [each.why for each in rank([alert(**facts)], START).left_out] == [why]


def test_what_was_seen_to_and_grew_worse_is_seen_to_again() -> None:
    assert rank([alert(attended_at=START, since=START + HOUR)], START + HOUR).order


@given(
    severity=st.sampled_from(Severity), impact=st.sampled_from(Degree), urgency=st.sampled_from(Degree),
    newcomers=st.integers(1, 30),
)  # fmt: skip
def test_nothing_starves_however_grave_what_comes_after_it(
    severity: Severity, impact: Degree, urgency: Degree, newcomers: int
) -> None:
    settings = AttentionSettings(at_once=1)
    longest_h = (settings.severity_weight + settings.timeliness_weight + settings.impact_weight) / settings.ageing_per_h
    old = alert(severity=severity, impact=impact, urgency=urgency)
    at = START + timedelta(hours=longest_h, minutes=1)
    grave = {"severity": Severity.CRITICAL, "impact": Degree.HIGH, "urgency": Degree.HIGH}
    new = [alert(at, **grave) for _ in range(newcomers)]

    assert rank([*new, old], at, settings).order[0].alert is old
