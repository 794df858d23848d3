"""From a signal to a decision: sense, reason, advise. Code judges; no model is asked."""

__all__: list[str] = []
