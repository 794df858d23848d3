"""The way back of an effect that another employee carries out: it travels with the order for the one call.

The order's engine then knows it while the call is under way: on the card that asks before, when a cancellation meets
the call in the middle, and when a process dies before whoever gave the order has seen that it happened.
"""

from __future__ import annotations

from contracts import Compensation, Json, Parameter, Step, TaskOrder, ValueType
from runtime.bindings import BindingFault, reference_of, resolve, rewritten
from runtime.engine.scope import Scope
from runtime.errors import InvalidArguments


def with_way_back(child: TaskOrder, step: Step, scope: Scope) -> TaskOrder:
    """Return the order with the compensation that `step` declares, where it is an order for one call.

    What the compensation reads of the call's own result it reads of the order's one step; all else is bound now and
    travels as inputs. One that cannot be bound is left to whoever gave the order.
    """
    one = child.plan.steps[0]
    if step.compensate is None or child.skill is not None or len(child.plan.steps) > 1 or one.use is None:
        return child
    bound: dict[str, Json] = {}

    def anew(text: str) -> str:
        reference = reference_of(text)
        if reference.root == step.id and text.startswith(step.id):
            return one.id + text.removeprefix(step.id)
        name = f"way_back_{len(bound) + 1}"
        bound[name] = resolve(f"{{{{ {text} }}}}", scope.values)
        return name

    try:
        arguments = rewritten(dict(step.compensate.arguments), anew)
    except (InvalidArguments, BindingFault):
        return child
    way_back = Compensation.model_validate({"use": step.compensate.use, "with": arguments})
    named = {name: Parameter(type=ValueType.ANY, required=False) for name in bound}
    plan = child.plan.model_copy(
        update={
            "steps": (one.model_copy(update={"compensate": way_back}),),
            "parameters": {**child.plan.parameters, **named},
        }
    )
    return child.model_copy(update={"plan": plan, "inputs": {**child.inputs, **bound}})
