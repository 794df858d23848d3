"""Writing: what of all that is said is worth remembering, and what happens when it contradicts what is known."""

__all__: list[str] = []
