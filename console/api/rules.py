"""Rules: what must hold at every action of an organisation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.views_rules import RuleRow
from contracts import Name, Text

routes = APIRouter(prefix="/rules", tags=["rules"])


class ExampleShown(ApiModel):
    """One example of a rule, run."""

    use: str
    """The capability."""
    allowed: bool
    """The answer that the rule must give."""
    ok: bool
    """Whether it gives it."""
    why: str = ""
    """Why, in a sentence."""
    fault: str = ""
    """What is wrong, where it does not."""


class RuleShown(ApiModel):
    """One rule, as the organisation's folder has it now."""

    name: Name
    """Its name."""
    version: str
    """Hash of all that it says."""
    text: Text
    """In words."""
    allow_when: str | None = None
    """The condition; absent where the rule is only told."""
    applies_to: tuple[str, ...] = ()
    """Capabilities; empty means everything that changes something."""
    effects: tuple[str, ...] = ()
    """Calls of which effect; empty means all of the capabilities it names."""
    breach: str | None = None
    """What comes of it where it is broken."""
    examples: tuple[ExampleShown, ...] = ()
    """Its examples, run."""

    @classmethod
    def of(cls, row: RuleRow) -> RuleShown:
        """Return what is shown of a rule."""
        fields = {name: getattr(row, name) for name in cls.model_fields}
        shown = [{name: getattr(each, name) for name in ExampleShown.model_fields} for each in row.examples]
        return cls(**{**fields, "examples": tuple(ExampleShown(**each) for each in shown)})


class RuleList(ApiModel):
    """The rules of an organisation."""

    rules: tuple[RuleShown, ...]
    """By name."""


@routes.get("", dependencies=[query_of("organisation")])
async def rules(
    desk: AtDesk, asking: Asking, organisation: Annotated[Name | None, Query(description="Whose rules.")] = None
) -> RuleList:
    """List the rules of an organisation as its folder has them now, their examples run."""
    folder = await desk.home_of(organisation, asking)
    return RuleList(rules=tuple(map(RuleShown.of, await desk.application.rules(folder))))
