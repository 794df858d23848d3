"""What chooses the skills that models see, for each organisation and model of embeddings of one process."""

from __future__ import annotations

from collections.abc import Mapping

from agents.organisation import Organisation
from agents.skills import SkillChooser
from console.meaning import Meanings
from runtime.search import Embedder
from runtime.settings.models import SkillSettings

KEPT = 16
"""Choosers that stay ready; whoever works with one that does not keeps it."""


class SkillChoices:
    """Choosers that stay ready, for each version of an organisation and each model that a run pinned."""

    def __init__(self, meanings: Meanings, settings: SkillSettings) -> None:
        """Take over where vectors come from, and how many skills are shown."""
        self._meanings = meanings
        self._settings = settings
        self._ready: dict[tuple[int, str], tuple[Organisation, SkillChooser]] = {}
        """By which organisation it is, which is kept as well: executions of several versions go on side by side."""

    def of(self, organisation: Organisation, names: Mapping[str, str]) -> SkillChooser:
        """Return what chooses among the organisation's skills.

        Args:
            organisation: as its execution pinned it.
            names: role → model, as the execution pinned them.
        """
        key = id(organisation), names.get("embed", "")
        kept = self._ready.pop(key, None) or (organisation, self._made(organisation, names))
        self._ready[key] = kept  # the one used last stands last
        while len(self._ready) > KEPT:
            del self._ready[next(iter(self._ready))]
        return kept[1]

    def embedder(self, organisation: Organisation, names: Mapping[str, str]) -> Embedder | None:
        """Return what makes vectors of an organisation's texts; None where words alone decide."""
        return self._meanings.of(organisation.name, names).embedder

    def _made(self, organisation: Organisation, names: Mapping[str, str]) -> SkillChooser:
        return SkillChooser(
            organisation.skills,
            {name: node.skills for name, node in organisation.employees.items()},
            rules=organisation.show,
            embedder=self.embedder(organisation, names),
            settings=self._settings,
        )
