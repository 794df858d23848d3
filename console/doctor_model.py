"""What `silicon doctor` says of models: whether the endpoint answers, and what it supports of what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from console.views_system import Examined, Health
from runtime.addresses import shown
from runtime.errors import SiliconError
from runtime.model.endpoint import Endpoint
from runtime.model.errors import ModelRefused, ModelStalled
from runtime.model.naming import names_in
from runtime.model.probing import probe
from runtime.model.profile import Calling, Profile
from runtime.model.profiles import Profiles
from runtime.settings.load import Settings

PROBE_S = 60.0
"""How long a person who looks waits for one answer; work waits `model.stalled_s`. Whole answers of up to 256 tokens
are asked for, which a small model on a busy machine of two cores takes 20 s for."""
_LISTED, _LETTERS = 20, 100
"""How many models of an endpoint are listed, and letters of each."""
_TOOLS: Mapping[Calling, str] = {
    Calling.NATIVE: "calls tools",
    Calling.SCHEMA: "does not call tools; they are offered as a schema that its answers follow",
    Calling.TEXT: "neither calls tools nor follows a schema; tools are told in words, which small models get wrong",
}


async def models_of(
    settings: Settings, named: Mapping[str, str], profiles: Profiles | None
) -> list[Examined]:  # fmt: skip
    """Return what is found of each model that settings or organisation name; each is asked a few short questions.

    Args:
        named: role → model, of those that the organisation names itself.
        profiles: where what is found out is kept for the work to come; None keeps nothing.
    """
    names = names_in(settings.model, named)
    if not names.get("reason"):
        what = "none configured; declared plans run, a react step fails with MODEL_REQUIRED"
        mend = "Set SILICON_MODEL__REASON, OPENAI_BASE_URL and OPENAI_API_KEY to use one."
        return [Examined("model", Health.NOTE, what, mend)]
    stalled_s = min(PROBE_S, settings.model.stalled_s)
    endpoint = Endpoint(settings.model.base_url, settings.model_key(), stalled_s=stalled_s)
    try:
        return [await _examined(endpoint, name, roles, profiles) for name, roles in _asked(names)]
    finally:
        await endpoint.close()


def _asked(names: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each model that answers with words, and the roles that it has."""
    for name in dict.fromkeys(names[role] for role in ("reason", "summarise") if role in names):
        yield name, [role for role in ("reason", "summarise") if names.get(role) == name]


async def _examined(endpoint: Endpoint, name: str, roles: list[str], profiles: Profiles | None) -> Examined:
    title = f"model {name}"
    try:
        profile = await probe(endpoint, name)
        if profiles is not None:
            await profiles.find_anew(name, profile)
    except SiliconError as error:
        return Examined(title, Health.BROKEN, error.message, await _mend(endpoint, error))
    lacking = list(_lacking(profile))
    what = f"{', '.join(roles)}; {shown(endpoint.base_url) or 'OpenAI'} answers and {_TOOLS[profile.calling]}"
    health = Health.NOTE if profile.calling is Calling.TEXT else Health.GOOD
    more = f"; without {', '.join(lacking)}" if lacking else ""
    context = f"; {profile.context_tokens:,} tokens of context" if profile.context_tokens else ""
    mend = "" if profile.context_tokens else "It does not tell how much a request may hold: set model.context_tokens."
    return Examined(title, health, what + more + context, mend, profile.to_json())


def _lacking(profile: Profile) -> Iterator[str]:
    """Yield what the endpoint lacks, in words; nothing of it stops the work."""
    if profile.tools and not profile.strict:
        yield "strict schemas"
    if profile.tools and not profile.must_call:
        yield "obeying tool_choice"
    if not profile.json_schema:
        yield "json_schema"
    if not profile.streams:
        yield "streams"
    elif not profile.stream_usage:
        yield "usage in streams (it is reckoned)"


async def _mend(endpoint: Endpoint, error: SiliconError) -> str:
    if isinstance(error, ModelStalled):
        waited = f"{error.facts['stalled_s']:g} s"
        return f"It may be busy or slow: ask again. This command waits {waited} at most, work waits model.stalled_s."
    if isinstance(error, ModelRefused) and error.facts.get("status") == 404 and (names := await _names(endpoint)):
        return f"It has {names}. Set SILICON_MODEL__REASON, or the model in org.yaml, to one of them."
    where = "" if endpoint.base_url else " It is the one of OpenAI, because OPENAI_BASE_URL is not set."
    return f"Look at OPENAI_BASE_URL (or SILICON_MODEL__BASE_URL), SILICON_MODEL__REASON and OPENAI_API_KEY.{where}"


async def _names(endpoint: Endpoint) -> str:
    """Return the models that the endpoint says it has; nothing where it does not tell."""
    try:
        listed = await endpoint.models()
    except SiliconError:  # what is wrong with it is told already
        return ""
    names = sorted({name for each in listed if isinstance(name := each.get("id"), str) and name})
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f"{', '.join(name[:_LETTERS] for name in names[:_LISTED])}{more}"
