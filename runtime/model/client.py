"""The model behind an endpoint: a request made fit, room for it, the answer read, and what it took."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from contracts import Json, Usage
from runtime.errors import ModelRequired, NetworkFault, SiliconError
from runtime.model.answers import Assembly, Raw, answer_of, raw_of, recover
from runtime.model.course import Course
from runtime.model.endpoint import Endpoint
from runtime.model.errors import cost_nothing
from runtime.model.limits import Limiter, room_in
from runtime.model.port import Ending, ModelAnswer, ModelRequest
from runtime.model.prices import Prices, usage_of
from runtime.model.probing import probe
from runtime.model.profile import Profile
from runtime.model.profiles import Profiles
from runtime.model.requests import Built, build

CHARS_PER_TOKEN = 3
"""Where an endpoint does not tell what an answer took, so many characters are reckoned as a token: few, so that a
budget is reached too early rather than too late."""
MOST_TOLD = 1_000_000_000
"""Tokens of one answer or request that an endpoint is believed: no model takes that many."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Terms:
    """How models are asked: settings and what the organisation says."""

    most_tokens: int
    """Tokens of an answer at most, unless the request says less."""
    context_tokens: int
    """Tokens of a request with its answer, where the endpoint does not tell."""
    stream: bool
    """Whether answers are asked for in parts."""
    prices: Prices


class ModelClient:
    """Asks the models of one organisation for one run: each role has one model, and keeps it.

    Nothing is tried again here: faults are the engine's to see, to write down and to try again. After a stream that
    ended without saying why, the next answer is asked for whole; where that one has its end, so are all from then on.
    """

    def __init__(self, endpoint: Endpoint, names: Mapping[str, str], *, terms: Terms, limiter: Limiter,
                 profiles: Profiles) -> None:  # fmt: skip
        """Take over role → name of its model, and how it is asked."""
        self._endpoint = endpoint
        self._names = names
        self._terms = terms
        self._limiter = limiter
        self._profiles = profiles
        self._doubted: set[str] = set()
        """Models whose last stream ended without saying why."""

    def name_of(self, role: str) -> str:
        """Return the model of a role; raise ModelRequired where none is set."""
        name = self._names.get(role)
        if name:
            return name
        raise ModelRequired(
            f"No model is set for the role {role}. Name one in org.yaml (model: {{{role}: NAME}}) or in the setting "
            f"model.{role} (environment variable SILICON_MODEL__{role.upper()}).",
            role=role, setting=f"model.{role}", variable=f"SILICON_MODEL__{role.upper()}",
        )  # fmt: skip

    def most(self, request: ModelRequest) -> Usage:
        """Return the most that an answer can take: a token holds a byte at least."""
        name, terms = self.name_of(request.role), self._terms
        size = _size_of(request)
        return usage_of(size, _most_tokens(request, terms), terms.prices.get(name))

    def room(self, role: str) -> int:
        """Return how many tokens a request of a role may have, its answer apart."""
        profile = self._profiles.known(self.name_of(role))
        window = (profile.context_tokens if profile is not None else None) or self._terms.context_tokens
        return window - min(self._terms.most_tokens, max(1, window // 2))

    def price_fault(self, role: str) -> str | None:
        """Return why nobody can tell what an answer costs, or None."""
        name = self.name_of(role)
        if name in self._terms.prices:
            return None
        return f"nobody says what {name} costs: name it under model.prices in org.yaml"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer; see the port.

        Raises:
            ModelRequired: no model is set for the role.
            NetworkFault: the endpoint cannot be reached, is busy or broke off.
            ModelRefused, ModelAccessRefused, ModelStalled: see `runtime.model.errors`.
            InvalidArguments: the request cannot be sent: what is wrong with its messages.
        """
        name = self.name_of(request.role)
        profile = self._profiles.known(name) or await self._profile(name, request.course)
        streams = profile.streams and name not in self._doubted
        async with room_in(self._limiter, request.course):
            answer = await self._answered(name, request, replace(profile, streams=streams))
        if answer.ending is Ending.BROKEN_OFF:
            if streams and "error" not in answer.facts:  # it may be how this endpoint ends every stream
                self._doubted.add(name)
            why = f": {answer.facts['error']}" if "error" in answer.facts else "."
            raise NetworkFault(f"{self._endpoint.where} broke off in the middle of an answer{why}", model=name)
        if streams:
            self._doubted.discard(name)
        elif name in self._doubted and profile.streams:  # and whole answers have their end
            await self._profiles.learn(name, profile.without("streams", "stream_usage"))
        return answer

    async def _answered(self, name: str, request: ModelRequest, profile: Profile) -> ModelAnswer:
        built = build(
            replace(request, most_tokens=None), profile, model=name, stream=self._terms.stream and profile.streams,
            most_tokens=self._fitting(request, profile),
        )  # fmt: skip
        for tool, why in built.dropped:
            _log.warning("the tool %s is not offered to the model: %s", tool, why)
        request.course.sends(partial(self.most, request))
        try:
            answer = self._read(name, request, built, await self._raw(built))
        except SiliconError as error:
            if cost_nothing(error):
                request.course.settles()
            raise
        known = answer.ending is not Ending.BROKEN_OFF or "usage_estimated" not in answer.facts
        if known:  # of what broke off without telling, more may have been made than what arrived
            request.course.settles(answer.usage)
        return answer

    async def _raw(self, built: Built) -> Raw:
        if not built.body.get("stream"):
            return raw_of(await self._endpoint.complete(built.body))
        assembly = Assembly()
        async for part in self._endpoint.stream(built.body):
            assembly.take(part)
        return assembly.whole()

    def _read(self, name: str, request: ModelRequest, built: Built, raw: Raw) -> ModelAnswer:
        usage, estimated = self._usage(name, request, raw)
        answer = answer_of(recover(built.read(raw), built.offered), name_of=built.names.real, usage=usage)
        calls = tuple(
            call if call.fault else replace(call, arguments=built.restore(call.name, call.arguments))
            for call in answer.calls
        )
        facts: dict[str, Json] = {
            **answer.facts, "asked": name, **({"usage_estimated": True} if estimated else {}),
            **({"dropped": [f"{tool}: {why}" for tool, why in built.dropped]} if built.dropped else {}),
        }  # fmt: skip
        return replace(answer, calls=calls, facts=facts)

    def _usage(self, name: str, request: ModelRequest, raw: Raw) -> tuple[Usage, bool]:
        """Return what the answer took, and whether that is reckoned because the endpoint does not tell."""
        told = raw.usage or {}
        said = len(raw.content) + len(raw.reasoning) + sum(len(call.arguments) for call in raw.calls)
        taken_in = _count(told.get("prompt_tokens"), least=1)
        taken_out = _count(told.get("completion_tokens"), least=min(said, 1))
        estimated = taken_in is None or taken_out is None
        if taken_in is None:
            taken_in = -(-_size_of(request) // CHARS_PER_TOKEN)
        if taken_out is None:
            taken_out = -(-said // CHARS_PER_TOKEN)
        return usage_of(taken_in, taken_out, self._terms.prices.get(name)), estimated

    async def _profile(self, name: str, course: Course) -> Profile:
        async def find_out() -> Profile:
            return await probe(self._endpoint, name, room=lambda: room_in(self._limiter, Course()))

        with course.waiting():  # for what serves all requests to come, and which somebody else may be doing
            return await self._profiles.of(name, find_out)

    def _fitting(self, request: ModelRequest, profile: Profile) -> int:
        """Return how many tokens the answer may have."""
        most = _most_tokens(request, self._terms)
        return min(most, max(1, (profile.context_tokens or self._terms.context_tokens) // 2))


def _most_tokens(request: ModelRequest, terms: Terms) -> int:
    return (request.most_tokens or terms.most_tokens) * request.times


def _size_of(request: ModelRequest) -> int:
    """Return how long the request is, bytes of JSON, nearly: what stands around a text weighs little."""
    return sum(_bytes_in(part) for part in (*request.messages, *request.tools))


def _bytes_in(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace")) + 3
    if isinstance(value, Mapping):
        return 2 + sum(len(str(key)) + 4 + _bytes_in(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return 2 + sum(_bytes_in(item) + 1 for item in value)
    return len(str(value))


def _count(told: object, *, least: int) -> int | None:
    """Return how many tokens the endpoint says it were; None where that is no number, or none that can be."""
    if not isinstance(told, int) or isinstance(told, bool):
        return None
    return told if least <= told <= MOST_TOLD else None
