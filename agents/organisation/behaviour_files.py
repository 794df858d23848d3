"""What `behavior/strategies/NAME.yaml` and `behavior/chains/NAME.yaml` may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from agents.organisation.declared import Declared, one_or_more
from contracts import Name, Text
from memory.behaviour.behaviour import Behaviour, BehaviourKind

FOLDER = "behavior"
FOLDERS = {"strategies": BehaviourKind.STRATEGY, "chains": BehaviourKind.CHAIN}


class StrategyFile(Declared):
    """A preference: followed where nothing that ranks higher says otherwise."""

    text: Text
    """What is preferred, in a sentence."""
    when: str = Field(default="", max_length=500)
    """Situations in which it is needed; absent: it is told in every step of its domain."""
    domain: Name | None = None
    """The business domain of which it is; absent: of all."""
    always: bool = False
    """Whether it is told though nothing of the task fits `when`."""

    def behaviour(self, name: Name) -> Behaviour:
        """Return it as it is found and told."""
        preloaded = self.always or not self.when
        return Behaviour(BehaviourKind.STRATEGY, name, self.text, self.when, self.domain, preloaded=preloaded)


class ChainFile(Declared):
    """A sequence that worked: told where a task fits `when`."""

    text: Text
    """What it is for, in a sentence."""
    when: str = Field(min_length=1, max_length=500)
    """Situations in which it is needed."""
    steps: Annotated[tuple[Text, ...], BeforeValidator(one_or_more)] = Field(min_length=1, max_length=20)
    """What is done, in order."""
    domain: Name | None = None
    """The business domain of which it is; absent: of all."""

    def behaviour(self, name: Name) -> Behaviour:
        """Return it as it is found and told."""
        return Behaviour(BehaviourKind.CHAIN, name, self.text, self.when, self.domain, self.steps)
