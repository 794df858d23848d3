"""Which model has which role."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.settings.models import ModelSettings

ROLES = ("reason", "summarise", "embed")


def names_in(settings: ModelSettings, organisation: Mapping[str, str]) -> dict[str, str]:
    """Return role → model: what the organisation names, else the settings; `summarise` falls back on `reason`."""
    named = {role: organisation.get(role) or str(getattr(settings, role)) for role in ROLES}
    named["summarise"] = named["summarise"] or named["reason"]
    return {role: name for role, name in named.items() if name}
