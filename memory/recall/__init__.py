"""Recall: finding the few memories that a question needs, and saying why these."""

__all__: list[str] = []
