"""Records: what is remembered, as events of the ledger with a table made of them."""

__all__: list[str] = []
