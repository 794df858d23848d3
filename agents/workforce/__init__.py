"""The employees of an organisation at work; `inline` holds them in one process."""

from agents.workforce.inline import EngineFactory, InlineWorkforce

__all__ = ["EngineFactory", "InlineWorkforce"]
