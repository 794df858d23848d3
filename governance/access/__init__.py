"""People, their roles and groups, and who may decide."""

from governance.access.people import People, Person, Refusal, Role, Why

__all__ = ["People", "Person", "Refusal", "Role", "Why"]
