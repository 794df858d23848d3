"""What chooses the skills that models see, for each organisation and model of embeddings of one process."""

from __future__ import annotations

from collections.abc import Mapping

from agents.organisation import Organisation
from agents.skills import SkillChooser
from console.meaning import Meanings
from contracts import Name
from runtime.settings.groups import SkillSettings


class SkillChoices:
    """Choosers that stay ready: the newest version of each organisation, with each model that a run pinned."""

    def __init__(self, meanings: Meanings, settings: SkillSettings) -> None:
        """Take over where vectors come from, and how many skills are shown."""
        self._meanings = meanings
        self._settings = settings
        self._ready: dict[tuple[Name, str], tuple[Organisation, SkillChooser]] = {}

    def of(self, organisation: Organisation, names: Mapping[str, str]) -> SkillChooser:
        """Return what chooses among the organisation's skills.

        Args:
            organisation: as its execution pinned it.
            names: role → model, as the execution pinned them.
        """
        key = organisation.name, names.get("embed", "")
        kept = self._ready.get(key)
        if kept is None or kept[0] is not organisation:
            kept = self._ready[key] = organisation, self._made(organisation, names)
        return kept[1]

    def _made(self, organisation: Organisation, names: Mapping[str, str]) -> SkillChooser:
        return SkillChooser(
            organisation.skills,
            {name: node.skills for name, node in organisation.employees.items()},
            rules=organisation.show,
            embedder=self._meanings.of(organisation.name, names).embedder,
            settings=self._settings,
        )
