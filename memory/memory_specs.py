"""What employees can do with memories and knowledge, declared."""

from __future__ import annotations

from contracts import Effect, Json, MemoryClass, Parameter, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec

WRITABLE = (MemoryClass.FACT, MemoryClass.PREFERENCE, MemoryClass.DECISION, MemoryClass.TASK, MemoryClass.OTHER)
"""What an employee may write: rules are people's alone."""
MINE, BUSINESS = "me", "business"

_MAY_MISS: Json = {"type": ["string", "null"]}

SEARCH = CapabilitySpec(
    name="memory_search",
    kind="builtin_tool",
    description="Find what this employee and the business remember about a question: the few memories that fit best.",
    parameters={
        "query": Parameter(
            type=ValueType.STRING, description="What is looked for, in words.", example="runways in snow"
        ),
        "entities": Parameter(
            type=ValueType.ARRAY, required=False, description="Only memories in which one of these names stands."
        ),
        "since": Parameter(type=ValueType.DATE_TIME, required=False, description="Only what was written from then on."),
        "until": Parameter(type=ValueType.DATE_TIME, required=False, description="Only what was written before."),
    },
    gives={"memories": "array", "found": "integer", "no_room": "array"},
    tier=Tier.COGNITIVE,
)
WRITE = CapabilitySpec(
    name="memory_write",
    kind="builtin_tool",
    description="Remember a new fact for later work. What is known already is not stored again.",
    parameters={
        "text": Parameter(
            type=ValueType.STRING, description="One or two sentences that stand alone.",
            example="Newark closes its short runway in snow.",
        ),
        "class": Parameter(
            type=ValueType.STRING, required=False, choices=tuple(each.value for each in WRITABLE),
            description="How fast it fades; a task does in weeks, a fact does not.",
        ),
        "whose": Parameter(
            type=ValueType.STRING, required=False, choices=(MINE, BUSINESS),
            description="Whose memory it is; the business's only by whoever manages others.",
        ),
        "domain": Parameter(type=ValueType.STRING, required=False, description="One of the domains of this order."),
        "subject": Parameter(type=ValueType.STRING, required=False, description="What it is about."),
        "relation": Parameter(type=ValueType.STRING, required=False, description="What of that it tells."),
        "value": Parameter(type=ValueType.STRING, required=False, description="What it says of that."),
        "entities": Parameter(type=ValueType.ARRAY, required=False, description="Names in it."),
        "confidence": Parameter(type=ValueType.NUMBER, required=False, description="How sure it is, 0 to 1."),
    },
    gives={"became": "string", "why": "string", "id": _MAY_MISS, "other": _MAY_MISS},
    effect=Effect.IDEMPOTENT,
    tier=Tier.COGNITIVE,
)  # fmt: skip
OPEN = CapabilitySpec(
    name="knowledge_open",
    kind="builtin_tool",
    description="Look up what the organisation wrote down. Ask with `query` for titles; then open the few you need.",
    parameters={
        "query": Parameter(
            type=ValueType.STRING, required=False, description="What is looked for; gives titles, strongest first.",
            example="snow at Newark",
        ),
        "open": Parameter(
            type=ValueType.ARRAY, required=False, description="Paths of titles that were given; gives their texts.",
        ),
        "reason": Parameter(
            type=ValueType.STRING, required=False, description="Why more has to be opened than an order may; recorded.",
        ),
        "resume": Parameter(
            type=ValueType.BOOLEAN, required=False, description="Going on after an interruption: what happened last.",
        ),
    },
    gives={"titles": "array", "bodies": "array", "inherited": "array", "left": "object"},
    tier=Tier.COGNITIVE,
)  # fmt: skip
PRODUCTS = CapabilitySpec(
    name="product_search",
    kind="builtin_tool",
    description="Find reports, decisions and insights that the organisation has delivered before.",
    parameters={
        "query": Parameter(
            type=ValueType.STRING, description="What is looked for, in words.", example="cancellations in snow"
        ),
        "kinds": Parameter(
            type=ValueType.ARRAY, required=False, description="Only these: `report`, `decision`, `insight`."
        ),
        "since": Parameter(type=ValueType.DATE_TIME, required=False, description="Only what was made from then on."),
        "newest": Parameter(
            type=ValueType.BOOLEAN, required=False, description="Only the newest of what follows each other; else all.",
            default=True,
        ),
    },
    gives={"products": "array", "found": "integer"},
    tier=Tier.COGNITIVE,
)  # fmt: skip
