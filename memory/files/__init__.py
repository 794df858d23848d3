"""Memories as Markdown files that people read and edit; the ledger stays the truth."""

__all__: list[str] = []
