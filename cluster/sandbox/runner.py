"""Runs one script in the slot. Started as a file by a sandbox driver, in a process of its own; imports nothing of ours.

Standard input: a line of JSON (`script_bytes`, `answer_fd`, `wall_s`, `limits`), the script, then its inputs as JSON.
Answer, on its own channel and only once: `{"state": "done", "result": …}`, `{"state": "raised", "error", "line"}`,
`{"state": "no_result"}`, `{"state": "not_json", "error"}` or `{"state": "memory"}`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
from typing import Any

NAME = "script"
OUT_OF_MEMORY = b'{"state": "memory"}'


def limit(limits: dict[str, int]) -> None:
    """Set the limits for good. CPU gets a second more as its hard limit, so that SIGXCPU comes before SIGKILL."""
    for name, wanted in limits.items():
        kind = getattr(resource, name)
        most = resource.getrlimit(kind)[1]
        soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        hard = soft + 1 if kind == resource.RLIMIT_CPU and most == resource.RLIM_INFINITY else soft
        resource.setrlimit(kind, (soft, hard))


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
    """Read what is asked, run it, write the answer."""
    asked = sys.stdin.buffer
    order = json.loads(asked.readline())
    source = asked.read(order["script_bytes"])
    inputs = json.loads(asked.read() or b"{}")
    limit(order["limits"])
    # whoever started this watches the clock; should that process be killed, the script still ends
    signal.setitimer(signal.ITIMER_REAL, order["wall_s"] + 10)
    answer = encode(run(source, inputs))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the script closed it
            continue
    answer += b"\n"  # says that it is whole, also while a child of the script holds the channel open
    sent = 0
    while sent < len(answer):
        sent += os.write(order["answer_fd"], answer[sent : sent + 65_536])
    os._exit(0)


if __name__ == "__main__":
    main()
