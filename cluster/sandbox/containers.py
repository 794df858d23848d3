"""The few calls of the Docker Engine API that a slot needs, by Docker's own SDK."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.errors import SandboxBroken
from contracts import Json

_API = "1.43"
"""Docker 24 and newer."""
_TIMEOUT_S = 60
_SOCKET = "unix:///var/run/docker.sock"


class Engine:
    """A Docker Engine of this machine; `DOCKER_HOST` may name another unix socket than the usual one."""

    def why_not(self, image: str) -> str:
        """Return why the engine cannot run containers of the image; empty where it can."""
        with _client() as client:
            from docker.errors import ImageNotFound

            try:
                with _told():
                    client.ping()
                    client.inspect_image(image)
            except SandboxBroken as error:
                if isinstance(error.__cause__, ImageNotFound):
                    return f"the engine has no image {image}; fetch it: docker pull {image}"
                return error.message
        return ""

    def create(self, config: dict[str, Json], asked: Mapping[str, Json], folder: Path) -> Container:
        """Make a container, not yet running; raise SandboxBroken where the engine refuses."""
        client = _client()
        try:
            with _told():
                made: dict[str, Any] = client.create_container_from_config(config)
        except BaseException:
            client.close()
            raise
        text = json.dumps(asked).encode()
        return Container(client, made["Id"], b"%08x" % len(text) + text, folder)

    def remove_all(self, labels: Mapping[str, str]) -> None:
        """Remove every container with these labels, also those that run."""
        wanted = {"label": [f"{name}={value}" for name, value in labels.items()]}
        with _client() as client, _told():
            for found in client.containers(all=True, filters=wanted):
                client.remove_container(found["Id"], force=True, v=True)


def _client() -> Any:  # the SDK has no types
    try:
        from docker import APIClient
    except ImportError:
        raise SandboxBroken(
            "The driver docker needs the Python package docker: pip install 'silicon-org[docker]'."
        ) from None
    address = os.environ.get("DOCKER_HOST") or _SOCKET
    if not address.startswith("unix://"):
        raise SandboxBroken(f"The driver docker speaks to an engine on a unix socket; DOCKER_HOST is {address}.")
    with _told():
        return APIClient(base_url=address, version=_API, timeout=_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a container ended."""

    exit_code: int
    out_of_memory: bool


@dataclass(frozen=True, slots=True)
class Container:
    """One container, from its making to its removal. Its calls block."""

    client: Any
    ident: str
    head: bytes
    """What the runner in it has to be sent first."""
    folder: Path

    def start(self) -> socket.socket:
        """Start it and return the connection to its input, output and errors; the last two come in frames."""
        with _told():
            opened = self.client.attach_socket(
                self.ident, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
            )
            try:
                connection = socket.socket(fileno=os.dup(opened.fileno()))
            finally:
                opened._response.close()  # the SDK ties the answer to its socket and closes only one of them
                opened.close()
            try:
                self.client.start(self.ident)
            except BaseException:
                connection.close()
                raise
            connection.setblocking(False)
            return connection

    def end(self) -> Ended:
        """Kill it where it still runs, and return how it ended."""
        from docker.errors import APIError, NotFound

        with _told():
            with contextlib.suppress(APIError):  # it runs no more
                self.client.kill(self.ident)
            try:
                self.client.wait(self.ident)
                state = self.client.inspect_container(self.ident)["State"]
            except NotFound:  # somebody removed it
                return Ended(128 + signal.SIGKILL, out_of_memory=False)
            return Ended(int(state["ExitCode"]), bool(state["OOMKilled"]))

    def remove(self) -> None:
        """Remove it with everything that runs in it."""
        from docker.errors import NotFound

        try:
            with _told(), contextlib.suppress(NotFound):
                self.client.remove_container(self.ident, force=True, v=True)
        finally:
            self.client.close()


@contextmanager
def _told() -> Iterator[None]:
    """Turn what the SDK raises into an error that says what to do."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as error:
        raise SandboxBroken(
            f"The Docker engine did not do what was asked: {error}. See that it runs, that this user may use it, and "
            "that it has the image of the setting slot.docker_image."
        ) from error
