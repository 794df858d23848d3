"""Alerts: from raw signals to the few things that people are told, whoever noticed them."""

from governance.alerts.alert import (
    LIFE,
    AlertMove,
    AlertState,
    AlertView,
    Hush,
    HushReason,
    Resolution,
    diagram,
    state_after,
)
from governance.alerts.alerts import Alerts, Taken
from governance.alerts.fold import fold_alert
from governance.alerts.matching import Matcher, typed_matcher
from governance.alerts.merging import Suppressed, Why
from governance.alerts.noted import Noted, noted
from governance.alerts.priority import PRIORITY, Degree
from governance.alerts.rules import AlertRules, Flapping, Inhibition, Level, Route, rules_by
from governance.alerts.silence import Silence
from governance.alerts.telling import Occasion, Telling

__all__ = [
    "LIFE",
    "PRIORITY",
    "AlertMove",
    "AlertRules",
    "AlertState",
    "AlertView",
    "Alerts",
    "Degree",
    "Flapping",
    "Hush",
    "HushReason",
    "Inhibition",
    "Level",
    "Matcher",
    "Noted",
    "Occasion",
    "Resolution",
    "Route",
    "Silence",
    "Suppressed",
    "Taken",
    "Telling",
    "Why",
    "diagram",
    "fold_alert",
    "noted",
    "rules_by",
    "state_after",
    "typed_matcher",
]
