"""The declarations of `browser.*`. Importing this costs little."""

from __future__ import annotations

from contracts import Effect, Json, Parameter, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.settings.groups import BrowserSettings

LABEL = "browser"
"""What a node must offer."""
SPARE_S = 60.0
"""Seconds that a call may take beyond one question to the page: starting the browser, a picture afterwards."""

_URL = Parameter(type=ValueType.STRING, description="Address of the page.", example="http://desk/waivers")
_URL_FIRST = Parameter(
    type=ValueType.STRING,
    required=False,
    description="Open this page first, unless it is open. With it the step can also be done in a fresh slot.",
    example="http://desk/waivers",
)
_WITHIN = Parameter(
    type=ValueType.STRING, required=False, description="CSS selector of the part that is meant.", example="main"
)
_ROLE = Parameter(
    type=ValueType.STRING, required=False, description="What it is, as browser.read shows it.", example="button"
)
_NAME = Parameter(
    type=ValueType.STRING, required=False, description="Its name, as browser.read shows it.", example="Show all"
)
_SELECTOR = Parameter(
    type=ValueType.STRING, required=False, description="CSS selector, in the place of role and name.", example="#go"
)
_SEEN = Parameter(
    type=ValueType.STRING,
    required=False,
    description="`text_sha256` of an earlier browser.read of the whole page: refused when it reads otherwise now.",
    example="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)
_WHERE: dict[str, Json] = {
    "url": "string", "title": "string", "status": "integer", "whole": "boolean", "noticed": "object",
}  # fmt: skip


def _spec(
    name: str, description: str, effect: Effect, parameters: dict[str, Parameter], gives: dict[str, Json]
) -> CapabilitySpec:
    return CapabilitySpec(
        name=f"browser.{name}",
        kind="builtin_tool",
        description=description,
        parameters=parameters,
        gives=gives,
        effect=effect,
        tier=Tier.EXECUTION,
        sandboxed=True,
        labels=(LABEL,),
        needs=("network",),
        timeout_s=BrowserSettings().timeout_s + SPARE_S,
        every_call=True,  # the page changes in between
    )


OPEN = _spec("open", "Open a page in the slot's browser.", Effect.READ, {"url": _URL}, _WHERE)
READ = _spec(
    "read",
    "Read the open page as a tree of roles, names and texts.",
    Effect.READ,
    {
        "url": _URL_FIRST,
        "within": _WITHIN,
        "characters": Parameter(
            type=ValueType.INTEGER, default=8_000, description="How much of the text is given.", example=8_000
        ),
    },
    {**_WHERE, "text": "string", "length": "integer", "text_sha256": "string"},
)
SCREENSHOT = _spec(
    "screenshot",
    "Take a picture of the open page and keep it as evidence.",
    Effect.READ,
    {
        "url": _URL_FIRST,
        "name": Parameter(
            type=ValueType.STRING, required=False, description="File name of the picture.", example="waivers.png"
        ),
        "whole_page": Parameter(
            type=ValueType.BOOLEAN, default=False, description="Also what lies below the window.", example=True
        ),
    },
    {**_WHERE, "name": "string", "sha256": "string", "width": "integer", "height": "integer", "size": "integer"},
)
CLICK = _spec(
    "click",
    "Click one thing on the open page.",
    Effect.WRITE,
    {"url": _URL_FIRST, "role": _ROLE, "name": _NAME, "selector": _SELECTOR, "seen": _SEEN},
    _WHERE,
)
TYPE = _spec(
    "type",
    "Put a text into one field of the open page, in the place of what it holds.",
    Effect.WRITE,
    {
        "url": _URL_FIRST,
        "role": _ROLE,
        "name": _NAME,
        "selector": _SELECTOR,
        "text": Parameter(type=ValueType.STRING, description="What is typed.", example="2013-02-08"),
        "enter": Parameter(
            type=ValueType.BOOLEAN, default=False, description="Whether Enter is pressed afterwards.", example=True
        ),
        "seen": _SEEN,
    },
    _WHERE,
)
SPECS = (OPEN, READ, SCREENSHOT, CLICK, TYPE)
