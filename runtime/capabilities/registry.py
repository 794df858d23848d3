"""Which capabilities there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from runtime.capabilities.port import Capability, CapabilitySpec
from runtime.errors import NotFound


class Registry:
    """The capabilities of one organisation, by name."""

    def __init__(self, capabilities: Iterable[Capability]) -> None:
        self._capabilities = {capability.spec.name: capability for capability in capabilities}

    def get(self, name: str) -> Capability:
        """Return the capability; raise NotFound with the nearest names when there is none."""
        try:
            return self._capabilities[name]
        except KeyError:
            near = get_close_matches(name, self._capabilities, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise NotFound(f"There is no capability {name}.{hint}", name=name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._capabilities

    def specs(self) -> Mapping[str, CapabilitySpec]:
        """Return every declaration, by name."""
        return {name: capability.spec for name, capability in sorted(self._capabilities.items())}
