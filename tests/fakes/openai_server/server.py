"""A real HTTP server of the protocol, on a loop and in a thread of its own: any test, loop or process can ask it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

import h11

from tests.fakes.openai_server.asked import Asked, Quirks, without_secrets
from tests.fakes.openai_server.endpoint import as_it_can, refusal_of, sensible
from tests.fakes.openai_server.protocol import MODEL, embeddings_of, model_of, models_of
from tests.fakes.openai_server.script import Act, Reply, Scripted, acts_of, fails, whole
from tests.fakes.openai_server.wire import CutOff, HungUp, Wire

CHAT, MODELS, EMBEDDINGS = "/chat/completions", "/models", "/embeddings"
PATIENCE_S = 60


class OpenAIServer:
    """Answers chat completions by its script, and models and embeddings by itself; keeps what it was asked.

    Args:
        script: answers in turn, one for each request of a completion.
        otherwise: what is answered when the script is at its end; without it the request fails, and so does `stop`.
        quirks: what the endpoint supports; scripted calls and words become what it can say.
        models: the models that it has, each with what it says of it.
        key: the key that requests need, if any.
    """

    def __init__(
        self,
        *script: Scripted,
        otherwise: Scripted | None = None,
        quirks: Quirks | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        key: str | None = None,
    ) -> None:
        self.otherwise = otherwise
        self.quirks = quirks or Quirks()
        self.models = {MODEL: {}} if models is None else models
        self.key = key
        self.asked: list[Asked] = []
        """Every request, in the order in which they came."""
        self.connections = 0
        self.hung_up = 0
        """Requests whose client left before its answer was whole."""
        self.most_at_once = 0
        """The most completions that were being answered at one time."""
        self.failures: list[BaseException] = []
        self._script: deque[Scripted] = deque(script)
        self._rules: list[tuple[Callable[[Asked], bool], Scripted]] = []
        self._counts: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._at_once = 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="openai-server", daemon=True)
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, asyncio.Event, int]] = Future()
        self._thread.start()
        self._loop, self._stopping, self._released, self.port = self._started.result(PATIENCE_S)

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Asked]:
        """The requests of completions, in the order in which they came."""
        return [asked for asked in self.asked if asked.path == CHAT]

    def plays(self, *script: Scripted) -> None:
        """Add answers to the end of the script."""
        self._script.extend(script)

    def when(self, fits: Callable[[Asked], bool], answer: Scripted) -> None:
        """Answer requests that fit in this way, before anything else; the newest rule that fits counts."""
        self._rules.insert(0, (fits, answer))

    def count(self, path: str = CHAT) -> int:
        """Return how often a path was asked."""
        return self._counts[path]

    def release(self) -> None:
        """Let every answer go on that is held back or stalls, from now on."""
        self._loop.call_soon_threadsafe(self._released.set)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what was asked: `await server.until(lambda: server.count() == 2)`."""
        await asyncio.to_thread(self.wait_until, holds)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait as `until`, without a loop."""
        with self._changed:
            if not self._changed.wait_for(holds, PATIENCE_S):
                raise TimeoutError(f"it does not come to hold; asked so far: {dict(self._counts)}")

    def stop(self) -> None:
        """End every connection; raise what went wrong in the script."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(PATIENCE_S)
        if self.failures:
            raise self.failures[0]

    async def _main(self) -> None:
        stopping, released = asyncio.Event(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()
        writers: list[asyncio.StreamWriter] = []

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            task = asyncio.create_task(self._serve(Wire(reader, writer)))
            tasks.add(task)
            task.add_done_callback(ended)

        def ended(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self.failures.append(error)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self._started.set_result((asyncio.get_running_loop(), stopping, released, server.sockets[0].getsockname()[1]))
        await stopping.wait()
        # first nothing more is accepted: a connection that is on its way in when the server closes is lost, and leaks
        asyncio.get_running_loop().remove_reader(server.sockets[0].fileno())
        await _all_ended(tasks)
        server.close()
        for writer in writers:
            writer.transport.abort()  # what a client does not read would keep its connection open
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    async def _serve(self, wire: Wire) -> None:
        self._note(connections=1)
        try:
            while (received := await wire.receive()) is not None:
                await self._answer(wire, *received)
        except HungUp:
            self._note(hung_up=1)
        except (CutOff, ConnectionError, h11.RemoteProtocolError):
            return
        finally:
            wire.close()

    async def _answer(self, wire: Wire, request: h11.Request, body: bytes) -> None:
        path = urlsplit(request.target.decode()).path.removeprefix("/v1")
        number = self._counts[path] + 1
        headers = without_secrets(list(request.headers))
        asked = Asked(request.method.decode(), path, headers, body, number, self.quirks)
        chat = path == CHAT
        self._arrived(asked, chat)
        try:
            await wire.play(self._acts(asked, dict(request.headers)), self._released)
        finally:
            self._at_once -= chat

    def _arrived(self, asked: Asked, chat: bool) -> None:
        with self._changed:
            self.asked.append(asked)
            self._counts[asked.path] += 1
            self._at_once += chat
            self.most_at_once = max(self.most_at_once, self._at_once)
            self._changed.notify_all()

    def _note(self, *, connections: int = 0, hung_up: int = 0) -> None:
        with self._changed:
            self.connections += connections
            self.hung_up += hung_up
            self._changed.notify_all()

    def _acts(self, asked: Asked, headers: Mapping[bytes, bytes]) -> list[Act]:
        if self.key is not None and headers.get(b"authorization") != f"Bearer {self.key}".encode():
            return acts_of(fails(401, "Incorrect API key provided.", code="invalid_api_key"), asked)
        try:
            return acts_of(self._reply(asked), asked)
        except Exception as error:  # the test's own script is wrong: it is told so when the server stops
            self.failures.append(error)
            return acts_of(fails(400, f"The script of the test failed: {type(error).__name__}: {error}"), asked)

    def _reply(self, asked: Asked) -> Any:
        scripted = next((answer for fits, answer in self._rules if fits(asked)), None)
        match asked.method, asked.path:
            case "POST", "/chat/completions":
                refused = refusal_of(asked)
                return refused or as_it_can(_called(self._next() if scripted is None else scripted, asked), asked)
            case _ if scripted is not None:
                return _called(scripted, asked)
            case "GET", "/models":
                return whole(models_of(self.models))
            case "GET", path if (name := path.removeprefix("/models/")) in self.models:
                return whole(model_of(name, self.models[name]))
            case "POST", "/embeddings":
                return whole(embeddings_of(asked.json))
        return fails(404, f"Unknown request: {asked.method} {asked.path}", code="unknown_url")

    def _next(self) -> Scripted:
        if self._script:
            return self._script.popleft()
        if self.otherwise is None:
            raise AssertionError("the endpoint was asked once more than the script has answers")
        return self.otherwise


async def _all_ended(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel what serves connections, and return once nothing is left on this loop: one may just have been accepted."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        await asyncio.wait(others)


def _called(scripted: Scripted, asked: Asked) -> Any:
    return scripted if isinstance(scripted, Reply) or not callable(scripted) else scripted(asked)


def obliging(**more: Any) -> OpenAIServer:
    """Return a server without a script, which answers as an obliging model would."""
    return OpenAIServer(otherwise=sensible, **more)
