"""One endpoint of the OpenAI protocol: the official client, and its errors turned into ours.

Bodies and answers pass as plain JSON. What endpoints send is read by `runtime.model.answers` alone, so that nothing
an endpoint leaves out or adds can fail in a place that expects an object of the client.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from runtime.addresses import shown
from runtime.capabilities.http_answer import LONGEST_WAIT_S, retry_after_s
from runtime.errors import NetworkFault, SiliconError
from runtime.model.errors import HUNG_UP, NOT_SENT, ModelAccessRefused, ModelAnswerTooLong, ModelRefused, ModelStalled

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

CONNECT_S = 10.0
"""Longest time for a connection to be made."""
NO_KEY = "none"
"""Sent where no key is set: the client insists on one, and local servers pass over it."""
_TOLD = 500
"""Characters of what an endpoint says about a refusal that are told on."""
_BUSY = (408, 409, 425, 429)
"""Refusals that pass by themselves."""


class Endpoint:
    """One address with one key. The client is made with the first request and keeps its connections."""

    def __init__(self, base_url: str, key: SecretStr | None, *, stalled_s: float) -> None:
        """Take an address, which ends before `/chat/completions`; empty is that of OpenAI."""
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._stalled_s = stalled_s
        self._client: AsyncOpenAI | None = None

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the whole answer to a request, as it came; raises as `stream`."""
        with _translated(self, body):
            answer = await self._open().post("/chat/completions", cast_to=object, body=dict(body))
        if not isinstance(answer, Mapping):
            raise NetworkFault(f"{self.where} answered with what is no JSON object: {str(answer)[:_TOLD]!r}.")
        return answer

    async def stream(self, body: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the parts of an answer as they come; the body has to ask for a stream.

        Raises:
            NetworkFault: it cannot be reached, is busy (`retry_after_s`), broke off or fell over.
            ModelRefused: it does not take the request.
            ModelAccessRefused: the key may not.
            ModelStalled: it sent no byte for `stalled_s`.
            ModelAnswerTooLong: it sent more than any answer has.
        """
        from openai import AsyncStream

        with _translated(self, body):
            parts = await self._open().post(
                "/chat/completions", cast_to=object, body=dict(body), stream=True, stream_cls=AsyncStream[object]
            )
            async with parts:
                async for part in parts:
                    if isinstance(part, Mapping):
                        yield part

    async def models(self) -> list[Mapping[str, Any]]:
        """Return what the endpoint says about its models; raises as `stream`."""
        with _translated(self, {}):
            answer: Any = await self._open().get("/models", cast_to=object)
        listed = answer.get("data") if isinstance(answer, Mapping) else None
        return [each for each in listed or () if isinstance(each, Mapping)]

    async def embed(self, model: str, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text, in their order; raises as `stream`."""
        with _translated(self, {"model": model}):
            answer: Any = await self._open().post(
                "/embeddings", cast_to=object, body={"model": model, "input": texts, "encoding_format": "float"}
            )
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(len(texts))):
                raise NetworkFault(f"{self.where} gave {len(rows)} embeddings for {len(texts)} texts, or one twice.")
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise NetworkFault(f"{self.where} answered with what are no embeddings.") from error
        return vectors

    @property
    def where(self) -> str:
        """The endpoint, for people."""
        return f"The model endpoint {shown(self.base_url) or 'of OpenAI'}"

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            import httpx2
            from openai import AsyncOpenAI

            from runtime.model.bounded import bounded_client  # it needs the HTTP library to be defined

            key = self._key.get_secret_value() if self._key is not None else NO_KEY
            if not (key.isascii() and key.isprintable()):
                raise ModelAccessRefused(
                    "The key holds what no request can carry: keys are of plain letters, digits and signs, on one "
                    "line. Set OPENAI_API_KEY, or model.api_key_file, anew."
                )
            self._client = AsyncOpenAI(
                api_key=key,
                base_url=self.base_url or None,
                max_retries=0,  # the engine tries again, with each fault in the ledger
                timeout=httpx2.Timeout(self._stalled_s, connect=min(CONNECT_S, self._stalled_s)),
                http_client=bounded_client(),
            )
        return self._client


class _translated:  # noqa: N801  (reads as a statement; a generator would cost each request 20 µs more)
    """Turns errors of the client into ours."""

    def __init__(self, endpoint: Endpoint, body: Mapping[str, Any]) -> None:
        self._endpoint = endpoint
        self._model = str(body.get("model", ""))

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, SiliconError):
            return
        ours = _ours(self._endpoint, self._model, error)
        if ours is not None:
            raise ours from None if isinstance(ours, ModelStalled) else error


def _ours(endpoint: Endpoint, model: str, error: Exception) -> SiliconError | None:
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, OpenAIError

    where = endpoint.where
    match error:
        case APITimeoutError():
            if _was_connecting(error):
                return NetworkFault(f"{where} cannot be reached: nothing answered in time.", **{NOT_SENT: True})
            return ModelStalled(
                f"{where} sent no byte for {endpoint._stalled_s:g} s, and the request was given up. Look whether it "
                "hangs; what a slow one may take is the setting model.stalled_s.",
                model=model, stalled_s=endpoint._stalled_s,
            )  # fmt: skip
        case APIConnectionError():
            return _of_connection(endpoint, model, error)
        case APIStatusError():
            return _of_status(endpoint, model, error)
        case APIError() | OpenAIError():
            return NetworkFault(f"{where} reported a fault: {str(error)[:_TOLD]}.")
        case json.JSONDecodeError() | UnicodeDecodeError():
            return NetworkFault(f"{where} sent what is no JSON: {error}.")
    return None


def _of_connection(endpoint: Endpoint, model: str, error: APIConnectionError) -> SiliconError:
    from runtime.model.bounded import AnswerTooLong, AnswerUnreadable

    cause = error.__cause__
    if isinstance(cause, AnswerTooLong):
        return ModelAnswerTooLong(f"{endpoint.where} was not heard out: {cause}.", model=model)
    if isinstance(cause, AnswerUnreadable):
        return NetworkFault(f"{endpoint.where} sent what cannot be read: {cause}.")
    facts = {NOT_SENT: True} if _was_connecting(error) else {HUNG_UP: True} if _hung_up(error) else {}
    mend = "Look whether it runs, and whether OPENAI_BASE_URL names it."
    return NetworkFault(f"{endpoint.where} cannot be reached: {_cause(error)}. {mend}", **facts)


def _of_status(endpoint: Endpoint, model: str, error: APIStatusError) -> SiliconError:
    status, said = error.status_code, _said(error)
    facts: dict[str, Any] = {"model": model, "status": status}
    if 300 <= status < 400:
        elsewhere = shown(error.response.headers.get("location", ""))[:_TOLD] or "another address"
        return ModelRefused(
            f"{endpoint.where} sends on to {elsewhere} ({status}). Only the address that is set is asked. If the "
            "endpoint moved, change OPENAI_BASE_URL or model.base_url.",
            **facts,
        )
    if status in _BUSY or status >= 500:
        wait_s = _retry_after_s(error.response.headers)
        if wait_s is not None:
            facts["retry_after_s"] = wait_s
        return NetworkFault(f"{endpoint.where} answered {status}: {said}", **facts)
    if status in (401, 403):
        return ModelAccessRefused(
            f"{endpoint.where} does not let this key use {model or 'it'} ({status}): {said} Set OPENAI_API_KEY, or "
            "model.api_key_file.",
            **facts,
        )
    hint = " `silicon doctor ORG` lists the models that it has." if status == 404 else ""
    return ModelRefused(f"{endpoint.where} refused the request to {model} ({status}): {said}{hint}", **facts)


def _said(error: APIStatusError) -> str:
    """Return what the endpoint says, bounded; pages of proxies are told as what they are."""
    body: Any = error.body
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    text = str(message if message else error.response.text or "it says nothing").strip()
    if text[:1] == "<":
        return "a page of HTML where an answer was due."
    return text[:_TOLD] + ("…" if len(text) > _TOLD else "" if text.endswith((".", "!", "?")) else ".")


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return how long it asks to wait: seconds or a date, or milliseconds as OpenAI adds them."""
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return min(exact / 1_000, LONGEST_WAIT_S)
    told = headers.get("retry-after")
    seconds = _number(told)
    return retry_after_s(told) if seconds is None else min(seconds, LONGEST_WAIT_S)


def _number(text: str | None) -> float | None:
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _was_connecting(error: BaseException) -> bool:
    import httpx2

    return isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


def _hung_up(error: BaseException) -> bool:
    import httpx2

    return isinstance(error.__cause__, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError)


def _cause(error: BaseException) -> str:
    """Return the innermost reason, in few words."""
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error) or type(error).__name__).rstrip(".")[:_TOLD]
