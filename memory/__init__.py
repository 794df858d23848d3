"""What an organisation knows: metrics with one definition each, and the products of its executions."""

__all__: list[str] = []
