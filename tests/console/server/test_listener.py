"""The socket that a server listens on."""

from __future__ import annotations

import socket
from contextlib import closing

from console.server.listener import SEND_BYTES, listen
from runtime.settings.groups import ServerSettings


def test_the_system_keeps_little_for_a_caller_that_does_not_read() -> None:
    with closing(listen(ServerSettings(port=0))) as listening, closing(socket.socket()) as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        caller.connect(listening.getsockname())
        taken, _ = listening.accept()
        with closing(taken):
            taken.setblocking(False)
            sent = 0
            try:
                while sent < 64 * SEND_BYTES:
                    sent += taken.send(b"x" * 4_096)
            except BlockingIOError:
                pass

    assert sent < 4 * SEND_BYTES
