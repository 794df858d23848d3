"""The five phases of a round as capabilities, and the plan that goes through them.

Only a round may call them: an employee that could would raise goals by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Effect, Json, Parameter, PlanDefinition, Step, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec

OBSERVE, ORIENT, DECIDE, ACT, EVALUATE = (
    f"heartbeat_{phase}" for phase in ("observe", "orient", "decide", "act", "evaluate")
)


def _spec(name: str, description: str, gives: Mapping[str, Json], **parameters: Parameter) -> CapabilitySpec:
    return CapabilitySpec(
        name=name, kind="builtin_tool", description=description, parameters=parameters, gives=gives,
        effect=Effect.IDEMPOTENT, tier=Tier.COGNITIVE,
    )  # fmt: skip


def _number(description: str) -> Parameter:
    return Parameter(type=ValueType.INTEGER, description=description)


def _list(description: str) -> Parameter:
    return Parameter(type=ValueType.ARRAY, description=description)


SPECS: Mapping[str, CapabilitySpec] = {
    spec.name: spec
    for spec in (
        _spec(
            OBSERVE,
            "Round of the heartbeat: what sensors noticed between two positions of the ledger.",
            {"signals": "array", "count": "integer"},
            after=_number("Position behind which it begins."),
            until=_number("Position with which it ends."),
            waiting=_list("Positions of signals that earlier rounds had no room for."),
        ),
        _spec(
            ORIENT,
            "Round of the heartbeat: makes alerts of signals.",
            {"opened": "integer", "grown": "integer", "resolved": "integer", "suppressed": "object"},
            signals=_list("What was observed."),
        ),
        _spec(
            DECIDE,
            "Round of the heartbeat: which alerts are seen to now, and which not, and why.",
            {"order": "array", "left_out": "array"},
        ),
        _spec(
            ACT,
            "Round of the heartbeat: has the goals of these alerts carried out.",
            {"begun": "array", "held": "array", "waiting": "array"},
            signals=_list("What was observed."),
            order=_list("Alerts that are seen to."),
            left_out=_list("Alerts that are not, each with the reason."),
            until=_number("Position up to which signals were observed."),
        ),
        _spec(
            EVALUATE,
            "Round of the heartbeat: holds what was promised against what happened, and counts the work.",
            {"judged": "array", "changed": "integer", "waiting": "integer", "work": "object"},
        ),
    )
}
"""Name → declaration."""


def round_plan() -> PlanDefinition:
    """Return the plan of a round."""
    number, several = Parameter(type=ValueType.INTEGER), Parameter(type=ValueType.ARRAY)
    signals = "{{ observe.signals }}"
    return PlanDefinition(
        parameters={"after": number, "until": number, "waiting": several},
        steps=(
            _step("observe", OBSERVE, after="{{ after }}", until="{{ until }}", waiting="{{ waiting }}"),
            _step("orient", ORIENT, signals=signals),
            _step("decide", DECIDE, after=("orient",)),
            _step(
                "act", ACT, signals=signals, order="{{ decide.order }}", left_out="{{ decide.left_out }}",
                until="{{ until }}",
            ),
            _step("evaluate", EVALUATE, after=("act",)),
        ),
        gives={
            "signals": "{{ observe.count }}",
            "opened": "{{ orient.opened }}",
            "suppressed": "{{ orient.suppressed }}",
            "begun": "{{ act.begun }}",
            "held": "{{ act.held }}",
            "waiting": "{{ act.waiting }}",
            "left_out": "{{ decide.left_out }}",
            "judged": "{{ evaluate.judged }}",
            "work": "{{ evaluate.work }}",
        },
    )  # fmt: skip


def _step(step_id: str, use: str, *, after: Json | tuple[str, ...] = None, **arguments: Json) -> Step:
    """Return one step; `after` is an argument where it is a binding, else the steps that come first."""
    if isinstance(after, tuple):
        return Step(id=step_id, use=use, arguments=arguments, after=after)
    given = arguments if after is None else {"after": after, **arguments}
    return Step(id=step_id, use=use, arguments=given)
