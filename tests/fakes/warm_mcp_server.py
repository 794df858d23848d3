"""MCP servers without their start: the SDK takes a second or two to import, so one process has it and forks servers.

The program that a test starts (`RELAY`) hands its standard input, output and error to the fork, and ends as it ends;
where the program is killed, the fork is killed too.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

RELAY = """
import array, json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
told = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
link.sendmsg([len(told).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
link.sendall(told)
for number in (0, 1, 2):
    os.close(number)
code = link.recv(1)
os._exit(code[0] if code else 1)
"""


def main() -> None:
    """Listen where the first argument says, until the input ends."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sys.argv[1])
    listening.listen()
    from tests.fakes import mcp_server

    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who watch
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        link, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _watch(link, mcp_server.main)
        link.close()


def _watch(link: socket.socket, serve: Callable[[], None]) -> None:
    """Fork the server, tell how it ended, and end it when the program that stands for it is gone."""
    size, ancillary, *_ = link.recvmsg(4, socket.CMSG_LEN(3 * array.array("i").itemsize))
    given = array.array("i", ancillary[0][2])
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += link.recv(65_536)
    server = os.fork()
    if server == 0:
        link.close()
        _serve(list(given), *json.loads(told), serve)
    for number in (*given, 0, 1, 2):
        os.close(number)
    ended = os.pidfd_open(server)
    ready, _, _ = select.select([link, ended], [], [])
    if ended not in ready:
        os.kill(server, signal.SIGKILL)
    _, status = os.waitpid(server, 0)
    if ended in ready:
        link.send(bytes([os.waitstatus_to_exitcode(status) & 255]))
    os._exit(0)


def _serve(
    given: list[int], arguments: list[str], folder: str, environment: dict[str, str], serve: Callable[[], None]
) -> None:
    for place, number in enumerate(given):
        os.dup2(number, place)
        os.close(number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["mcp_server", *arguments]
    code = 1
    try:
        serve()
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
