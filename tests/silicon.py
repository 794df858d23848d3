"""The command `silicon` without its start: most of what a short command costs is importing, for which tests wait often.

    warm_silicon()      path of a program that does what `silicon` does, wherever that is run and whoever runs it

Behind it stands one process with everything imported and nothing running, which forks a child for each command: with
the arguments, folder, environment and standard streams of whoever called. The program passes signals on, and the exit
code back. The process ends with the test process. A test that kills a command, or looks at its process, starts the
real one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import NoReturn

from console.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
CALL = """#!{python} -ISE
import os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
said = [os.getcwdb(), os.fsencode({program!r}), *map(os.fsencode, sys.argv[1:])]
given = [name + b"=" + value for name, value in os.environb.items()]
message = b"\\0".join([b"%d" % len(said), *said, *given])
socket.send_fds(server, [b"%10d" % len(message)], [0, 1, 2])
server.sendall(message)
answers = server.makefile("rb")
child = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(child, number))
ended = int(answers.readline() or 1)
if ended < 0:
    signal.signal(-ended, signal.SIG_DFL) if -ended != signal.SIGKILL else None
    os.kill(os.getpid(), -ended)
os._exit(ended)
"""


@cache
def warm_silicon() -> str:
    """Return the path of the program; the process behind it is started with the first call."""
    folder = tempfile.mkdtemp(prefix="warm-")
    atexit.register(rmtree, folder, ignore_errors=True)
    address, program = f"{folder}/socket", Path(folder, "silicon")
    program.write_text(CALL.format(python=sys.executable, address=address, program=str(program)))
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}  # NumPy starts none then
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.silicon", address],
        cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    atexit.register(server.communicate)  # closes its standard input, by which it ends
    assert server.stdout is not None and server.stdout.readline() == b"ready\n"
    return str(program)


class Server:
    """Forks a child for each call, and tells whoever called how it ended."""

    def __init__(self, address: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen(32)
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        self._selector.register(self._listening, selectors.EVENT_READ, self._accept)

    def serve(self) -> None:
        """Serve until the standard input closes."""
        print("ready", flush=True)
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _accept(self) -> None:
        caller, _ = self._listening.accept()
        length, streams, _, _ = socket.recv_fds(caller, 10, 3)
        message = b""
        while len(message) < int(length):
            message += caller.recv(int(length) - len(message))
        learnt, telling = os.pipe()
        assert len(list(Path("/proc/self/task").iterdir())) == 1, "a thread does not survive a fork"
        child = os.fork()
        if child == 0:
            caller.close()
            self._selector.close()
            self._listening.close()
            _be_silicon(message, streams, telling)
        for each in (*streams, telling):
            os.close(each)
        caller.sendall(b"%d\n" % child)
        self._watch(child, caller, learnt)

    def _watch(self, child: int, caller: socket.socket, learnt: int) -> None:
        said = bytearray()

        def read() -> None:
            """What the child imported; it closes when the child ends, which may have left children of its own."""
            said.extend(more := os.read(learnt, 65_536))
            if not more:
                self._selector.unregister(learnt)
                os.close(learnt)
                _import(json.loads(said or b"[]"))

        def end() -> None:
            self._selector.unregister(ended)
            with suppress(KeyError):
                self._selector.unregister(caller)
            os.close(ended)
            _, status = os.waitpid(child, 0)
            with suppress(OSError):
                caller.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            caller.close()

        def hung_up() -> None:
            """Whoever called was killed."""
            self._selector.unregister(caller)
            os.kill(child, signal.SIGKILL)

        ended = os.pidfd_open(child)
        self._selector.register(learnt, selectors.EVENT_READ, read)
        self._selector.register(ended, selectors.EVENT_READ, end)
        self._selector.register(caller, selectors.EVENT_READ, hung_up)


def _be_silicon(message: bytes, streams: list[int], telling: int) -> NoReturn:
    count, *texts = message.split(b"\0")
    folder, *arguments = texts[: int(count)]
    os.chdir(folder)
    os.environb.clear()  # type: ignore[attr-defined]
    for given in texts[int(count) :]:
        name, _, value = given.partition(b"=")
        os.environb[name] = value
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode, lines = ("w" if number else "r"), (1 if number == 2 else -1)
        setattr(sys, name, os.fdopen(number, mode, lines, encoding="utf-8", closefd=False))
    sys.argv = [os.fsdecode(each) for each in arguments]
    known = set(sys.modules)
    code: object = 1
    try:
        from console.cli.main import run

        run()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    modules = sorted(name for name in set(sys.modules) - known if not name.startswith("__"))
    with suppress(OSError), os.fdopen(telling, "w") as told:
        json.dump(modules, told)
    _leave(code if isinstance(code, int) else 0)


def _leave(code: int) -> NoReturn:
    """End as Python does, but do not take every module apart."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _import(modules: list[str]) -> None:
    """Import what a child imported while it worked, so that the next ones find it there."""
    for name in modules:
        with suppress(Exception):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import(["console.cli.main", "console.application", *(place for _, place, _ in COMMANDS.values())])
    Server(sys.argv[1]).serve()
