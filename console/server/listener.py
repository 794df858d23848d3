"""Listens for HTTP: a socket that is taken before anything starts, and uvicorn without a hand on signals."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from console.server.errors import AddressInUse
from runtime.settings.groups import ServerSettings

BACKLOG = 2_048
"""Connections that wait to be taken."""
SEND_BYTES = 256 * 1024
"""What the system keeps for one caller that does not read; by itself it would keep up to 4 MiB for each."""
GRACE_S = 5
"""How long requests in progress get when the server stops, in seconds."""


def listen(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens where the settings say; raise AddressInUse when that cannot be."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)  # each connection inherits it
            listening.bind(address)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise AddressInUse(
            f"Nothing can listen on {settings.host}, port {settings.port}: {error.strerror}. Choose another with "
            "--host and --port; port 0 takes a free one.",
            host=settings.host,
            port=settings.port,
            error=error.strerror,
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    """Return where the socket can be reached, as an HTTP address."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


class HttpServer(uvicorn.Server):
    """Serves an ASGI application on a socket until `stop`."""

    def __init__(self, application: Any) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=GRACE_S,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the server."""
        yield

    def stop(self) -> None:
        """Take no more requests, and end once those in progress are answered."""
        self.should_exit = True

    def stop_at_once(self) -> None:
        """Leave requests in progress without an answer."""
        self.force_exit = True
