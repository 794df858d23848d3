"""The employees of an organisation at work; `inline` holds them in one process."""

from agents.workforce.inline import ClusterFor, EngineFor, InlineWorkforce

__all__ = ["ClusterFor", "EngineFor", "InlineWorkforce"]
