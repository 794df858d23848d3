"""A model endpoint that answers at once, for `bench/react.py`: it runs in a process of its own, and prints its port.

It has read the whole conversation when it knows how many answers it gave: ten calls of the tool `work`, each with other
arguments, then the end of the step. Every answer is put together beforehand.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

CALLS = 10
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
_CALL = {"index": 0, "id": "call_1", "type": "function"}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _function(number: int) -> dict[str, str]:
    if number < CALLS:
        return {"name": "work", "arguments": json.dumps({"n": number})}
    return {"name": "step_control", "arguments": json.dumps({"say": "done", "output": {"count": number}})}


def _whole(number: int) -> bytes:
    message = {"role": "assistant", "content": None, "tool_calls": [{**_CALL, "function": _function(number)}]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "bench", "usage": _USAGE}
    return _sent(b"application/json", json.dumps({**frame, "choices": [choice]}).encode())


def _stream(number: int) -> bytes:
    function = _function(number)
    half = len(function["arguments"]) // 2
    told = [
        {"role": "assistant", "content": None, "tool_calls": [{**_CALL, "function": {**function, "arguments": ""}}]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}
          for part in (function["arguments"][:half], function["arguments"][half:])),
    ]  # fmt: skip
    choices: list[Any] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in told]
    choices += [[{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], []]
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    chunks = [{**frame, "choices": each, **({} if each else {"usage": _USAGE})} for each in choices]
    events = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
    return _sent(b"text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode())


def _sent(kind: bytes, body: bytes) -> bytes:
    return _HEAD % (kind, len(body)) + body


WHOLE = [_whole(number) for number in range(CALLS + 1)]
STREAM = [_stream(number) for number in range(CALLS + 1)]


class Connection(asyncio.Protocol):
    """One connection that is kept for many requests, one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._got = b""

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, ends, body = self._got.partition(b"\r\n\r\n")
        if not ends:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(body) < length:
            return
        self._got = body[length:]
        answers = STREAM if b'"stream":true' in body or b'"stream": true' in body else WHOLE
        self._transport.write(answers[min(body.count(b'"assistant"'), CALLS)])


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the bench ends, however it does
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
