"""Runs one program in the slot, after taking away its own rights. Started by a sandbox driver, in a process of its own.

Standard input: eight hex digits, the length of the JSON that follows. A script: `script_bytes`, `answer_fd` (or
`answer_file`), `wall_s`, `confine`; after it the script, then its inputs as JSON. Any other program: `argv`,
`environment`, `wall_s`, `confine`; what follows is for the program.

Answer of a script, on its own channel and only once: a line `ready` when nothing of the script has run yet, then
`{"state": "done", "result": …}`, `{"state": "raised", "error", "line"}`, `{"state": "no_result"}`, `{"state":
"not_json", "error"}` or `{"state": "memory"}`. Instead of both, `{"state": "unconfined", "error"}` when it could not
be confined.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from typing import Any

from . import confine  # noqa: TID252  loaded in the slot too, where no package of ours exists

NAME = "script"
OUT_OF_MEMORY = b'{"state": "memory"}'
READY = b"ready\n"
"""Comes before the answer, once the process is confined; without it nothing of the script ran."""
NOT_CONFINED, NOT_STARTED = 125, 127
"""Exit codes of a program that did not run: it could not be confined, or is not there."""


def run(source: bytes, inputs: Any) -> dict[str, Any]:
    """Return the answer of one script."""
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, "inputs": inputs}
    try:
        exec(compile(source, NAME, "exec"), space)  # noqa: S102
    except MemoryError:
        space.clear()
        return {"state": "memory"}
    except SystemExit as error:
        if error.code not in (None, 0):
            return {"state": "raised", "error": f"it ended itself with exit code {error.code}", "line": None}
    except BaseException as error:
        traceback.print_exc()
        return {"state": "raised", "error": told(error), "line": line_of(error)}
    if "result" not in space:
        return {"state": "no_result"}
    return {"state": "done", "result": space["result"]}


def told(error: BaseException) -> str:
    """Return the last line of an error, as people read it."""
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    return text[:1_000]


def line_of(error: BaseException) -> int | None:
    """Return the line of the script an error came from."""
    if isinstance(error, SyntaxError) and error.filename == NAME:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    return lines[-1] if lines else None


def plain(value: Any) -> Any:
    """Return a value of numpy, pandas or the calendar as JSON; raise TypeError for anything else."""
    for name in ("isoformat", "tolist", "item"):
        make = getattr(value, name, None)
        if callable(make):
            return make()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def encode(answer: dict[str, Any]) -> bytes:
    """Return the answer as bytes; a result that is no JSON becomes an answer that says so."""
    try:
        return json.dumps(answer, default=plain).encode()
    except MemoryError:
        return OUT_OF_MEMORY
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"state": "not_json", "error": told(error)}).encode()


def main() -> None:
    """Read what is asked and become it."""
    asked = json.loads(_exactly(int(_exactly(8), 16)))
    if "argv" in asked:
        _become(asked)
    else:
        _answer(asked)


def _answer(asked: dict[str, Any]) -> None:
    """Run a script and write its answer."""
    source = _exactly(asked["script_bytes"])
    inputs = json.loads(sys.stdin.buffer.read() or b"{}")
    try:
        confine.confine(asked["confine"], keep=asked["answer_fd"])
    except OSError as error:
        _send(_answer_fd(asked), encode({"state": "unconfined", "error": told(error)}))
        os._exit(NOT_CONFINED)
    _set_alarm(asked["wall_s"])
    answering, answer_fd = os.getpid(), _answer_fd(asked)
    os.write(answer_fd, READY)
    answer = encode(run(source, inputs))
    if os.getpid() != answering:
        os._exit(0)  # a child of the script came back from it
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the script closed it
            continue
    _send(answer_fd, answer)
    os._exit(0)


def _answer_fd(asked: dict[str, Any]) -> int:
    """Return where the answer goes: a descriptor, or where a container has none a new file of the slot's folder."""
    if asked["answer_fd"] is not None:
        return int(asked["answer_fd"])
    return os.open(asked["answer_file"], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _become(asked: dict[str, Any]) -> None:
    """Turn into another program, which keeps the limits."""
    argv: list[str] = asked["argv"]
    try:
        confine.confine(asked["confine"], keep=None)
    except OSError as error:
        _say(f"not started, because it could not be confined: {error}")
        os._exit(NOT_CONFINED)
    _set_alarm(asked["wall_s"])
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, other programs count on them
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, asked["environment"])  # noqa: S606
    except OSError as error:
        _say(f"{argv[0]}: {error.strerror}")
        os._exit(NOT_STARTED)


def _set_alarm(wall_s: float | None) -> None:
    """Whoever started this watches the clock; should that fail, the program still ends."""
    if wall_s is not None:
        signal.setitimer(signal.ITIMER_REAL, wall_s + 10)


def _exactly(size: int) -> bytes:
    """Read no byte more: what follows may belong to the program."""
    got = b""
    while len(got) < size:
        part = os.read(0, size - len(got))
        if not part:
            os._exit(NOT_CONFINED)  # whoever started this is gone
        got += part
    return got


def _send(fd: int, answer: bytes) -> None:
    answer += b"\n"  # says that it is whole, also while a child of the script holds the channel open
    sent = 0
    while sent < len(answer):
        sent += os.write(fd, answer[sent : sent + 65_536])


def _say(text: str) -> None:
    os.write(2, f"{text}\n".encode())
