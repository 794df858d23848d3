"""Makes the vectors of skills when a server starts, so that the first goal need not wait for all of them."""

from __future__ import annotations

import logging

from console.pinned import Organisations
from runtime.errors import SiliconError
from runtime.model.naming import names_in
from runtime.settings.load import Settings

_log = logging.getLogger(__name__)


async def warm(organisations: Organisations, settings: Settings) -> None:
    """Choose among all skills of each organisation that the server was started with, once, for no goal.

    Where no model reasons, none is shown any skill; where there are few, all are, and nothing is embedded. What cannot
    be done now is done, or told, with the first goal.
    """
    for name, folder in organisations.given.items():
        try:
            organisation, _ = await organisations.current(folder)
            if "reason" in names_in(settings.model, organisation.models):
                choice = organisations.skill_choice(organisation)
                await choice.for_step(organisation.head.id, name, [*organisation.skills])
        except SiliconError as error:
            _log.warning("skills could not be made ready: %s", error, extra={"organisation": name})
