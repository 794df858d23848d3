"""Whether code computed a finding: only then does its confidence let anything pass without a person."""

from __future__ import annotations

from collections.abc import Mapping

from agents.cognition.attribute_spec import SPEC as ATTRIBUTE
from agents.cognition.explain_spec import SPEC as EXPLAIN
from contracts import Step
from runtime.capabilities.port import CallContext
from runtime.engine.graph import roots_of

_STATISTICS = (ATTRIBUTE.name, EXPLAIN.name)
"""Their label follows from a stated table, whatever they are given."""
_SCRIPT = "python"


def is_computed(context: CallContext) -> bool:
    """Whether the finding is the result of statistics, or of a script of the folder that no model's words reach.

    Anything else says nothing of itself that counts: a step that asks a model, another order's work, a parameter of
    the order, which whoever asked for it has filled in.
    """
    steps = {step.id: step for step in context.order.plan.all_steps()}
    asks = steps.get(context.step)
    paths = [path for path in context.origins if path == "finding" or path.startswith("finding.")]
    said_by = {name.strip().rpartition("/")[2] for path in paths for name in context.origins[path].step.split(",")}
    if not said_by or (asks is not None and asks.react is not None):
        return False
    return all(name in steps and _computes(steps[name], steps) for name in said_by)


def _computes(step: Step, steps: Mapping[str, Step]) -> bool:
    if step.use in _STATISTICS:
        return True
    return step.use == _SCRIPT and _free_of_words(step, steps, frozenset())


def _free_of_words(step: Step, steps: Mapping[str, Step], seen: frozenset[str]) -> bool:
    """Whether neither a model's step nor another order stands before a step."""
    if step.id in seen or (step.use is None and not step.parallel):
        return False
    before = [steps[name] for name in dict.fromkeys(roots_of(step)) if name in steps]
    return all(_free_of_words(each, steps, seen | {step.id}) for each in (*before, *step.parallel))
