"""What the model's loop costs beside the model.

    python bench/react.py [--json] [--parts build loop] [--tools 1000] [--repeat 200]

*build*: a step has a thousand tools of eight parameters each, and its request is made fit for an endpoint that has
native tools and strict schemas: messages looked at, tools named, schemas normalised, the body put together. The first
request works all of it out. `again` is the next request of the same step; `next_step` one of another step with the
same tools, whose declarations are put together anew; `in_words` the next of the same step for an endpoint without
tools, which is told of each in words and by the schema of its answer. Medians.

*loop*: a step of ten tool calls, eleven requests, against an endpoint on this machine that answers at once and runs in
a process of its own. The bare side is the official client that sends the very same bodies and reads the answers.
`added_ms` is what a request takes longer in the real engine, with everything but the commit: the request made fit, the
answer read, the call checked and made, and all of it as events, which a ledger takes that keeps nothing.
`added_durable_ms` is the same with each answer and result on disk, or on tmpfs, before the next thing happens. Sides
take turns; answers in parts (`stream`) and at once (`whole`); medians of a step, per request. A number below zero says
that the whole step took less time than the bare client: ours sends bodies that are fit already and reads plain JSON,
while the client's own methods look through every body and make an object of every part.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

from react_loop import loop_part
from rig import median, parser, show

from contracts import Parameter, Step, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.react.tools import Toolbox
from runtime.model.port import ModelRequest
from runtime.model.profile import Profile
from runtime.model.requests import build

MESSAGES = (
    {"role": "system", "content": "You carry out one step of a plan."},
    {"role": "user", "content": "Find out why so many flights are cancelled."},
)
KINDS = (ValueType.STRING, ValueType.INTEGER, ValueType.NUMBER, ValueType.BOOLEAN, ValueType.DATE)
PARAMETERS = 8


def specs(count: int) -> list[CapabilitySpec]:
    """Return that many capabilities of as many services, their names to be aliased."""
    parameters = {
        f"parameter_{number}": Parameter(
            type=KINDS[number % len(KINDS)], required=number < 2, description=f"What number {number} is about."
        )
        for number in range(PARAMETERS)
    }
    return [
        CapabilitySpec(f"service_{number}.operation", "service_tool", f"Does what {number} does.", parameters, {})
        for number in range(count)
    ]


def ms_of(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1_000


def build_part(arguments: argparse.Namespace) -> dict[str, Any]:
    of_all = specs(arguments.tools)
    step = Step.model_validate({"id": "think", "react": "Go.", "tools": [spec.name for spec in of_all]})
    native, plain = Profile(), Profile(tools=False, strict=False)

    def asked(box: Toolbox, profile: Profile = native) -> object:
        request = ModelRequest("reason", MESSAGES, box.declarations())
        return build(request, profile, model="bench", stream=True, most_tokens=1_000)

    box = Toolbox(step, of_all, {})
    first = ms_of(lambda: asked(box))
    asked(box, plain)
    again, next_step, in_words = (
        [ms_of(work) for _ in range(arguments.repeat)]
        for work in (lambda: asked(box), lambda: asked(Toolbox(step, of_all, {})), lambda: asked(box, plain))
    )
    found = {"again_ms": again, "next_step_ms": next_step, "in_words_ms": in_words}
    return {
        "tools": arguments.tools,
        "first_ms": round(first, 2),
        **{name: round(median(taken), 3) for name, taken in found.items()},
    }


PARTS: Mapping[str, Callable[[argparse.Namespace], dict[str, Any]]] = {"build": build_part, "loop": loop_part}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = []
    for name, one in found["parts"].items():
        told += [name, *(f"  {what}: {value}" for what, value in one.items())]
    return told


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    made.add_argument("--tools", type=int, default=1_000)
    made.add_argument("--repeat", type=int, default=200, help="requests, and steps, of each kind")
    arguments = made.parse_args()
    found = {"bench": "react", "parts": {name: PARTS[name](arguments) for name in arguments.parts}}
    show(found, lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
