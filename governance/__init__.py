"""Who may do what: people and roles, policies checked at the effect, decision cards and the gate."""

__all__: list[str] = []
