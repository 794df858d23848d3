"""A local service that is started when it is needed, once, whoever asks first, and outlives whoever asked."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from runtime.canonical import sha256
from runtime.capabilities.connections import Service
from runtime.capabilities.http import Address
from runtime.errors import NetworkFault

_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")
_START_S = 15.0
_HEALTH_S = 3.0
_END_S = 5.0
_QUOTED = 300
"""Characters of the log's last line that an error quotes."""


@dataclass(frozen=True, slots=True)
class _Program:
    """What is to run, and where."""

    command: list[str]
    folder: str
    files: dict[str, str]
    """Each file that the command names, with the hash of its content."""


@dataclass(frozen=True, slots=True)
class _State:
    address: str
    pid: int
    token: str
    program: _Program
    cwd: str
    """Where the process stood when it told its address: another place later means that the folder was moved away."""


class LocalService:
    """The service of one connection of one organisation folder.

    Its address, log and data lie in `HOME/services`, in a folder named after both, so that organisations whose
    connections have the same name never share a service. When its command or a file that the command names has
    changed, the next call stops it and starts it anew over the same data.
    """

    def __init__(self, name: str, service: Service, *, home: Path, folder: Path) -> None:
        self._name = name
        self._command = [sys.executable if part == "python" else part for part in service.command]
        self._folder = folder.resolve()
        self._place = home / "services" / f"{name}-{sha256(str(self._folder).encode())[:12]}"
        self._state_file = self._place / "state.json"
        self._lock_file = self._place / "lock"
        self._log_file = self._place / "service.log"
        self._data_folder = self._place / "data"

    def instance(self) -> str:
        """Return a random name that lies with the service's data: another home, or data begun anew, has another one."""
        kept = self._data_folder / ".instance"
        try:
            if not kept.exists():
                self._data_folder.mkdir(parents=True, exist_ok=True)
                name = secrets.token_hex(8)
                new = self._data_folder / f".instance-{name}"
                new.write_text(name, encoding="utf-8")
                with contextlib.suppress(FileExistsError):  # somebody else was quicker
                    os.link(new, kept)
                new.unlink()
            return kept.read_text(encoding="utf-8")
        except OSError as error:
            raise NetworkFault(
                f"The data of the local service of connection {self._name} cannot be used: {error}.",
                connection=self._name, happened="no",
            ) from error  # fmt: skip

    async def locate(self) -> Address:
        """Return where the service listens; start it when it does not. Raise NetworkFault when it does not start."""
        return await asyncio.to_thread(self.ensure)

    def ensure(self) -> Address:
        """Like `locate`, blocking."""
        if (found := self._healthy()) is not None:
            return found
        self._data_folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            return self._healthy() or self._start()

    def stop(self) -> None:
        """Ask the service to end; does nothing when it does not run."""
        state = self._read_state()
        if state is not None and (process := _process_of(state)) is not None:
            _end(process)

    def _healthy(self) -> Address | None:
        """Return the address of the service that runs, when it is the program of now and answers."""
        state = self._read_state()
        if state is None or state.program != self._program() or not _stands(state) or not _answers(state):
            return None
        return Address(state.address, state.token)

    def _program(self) -> _Program:
        files = {}
        for part in self._command:
            file = self._folder / part
            if part != sys.executable and file.is_file():
                files[part] = sha256(file.read_bytes())
        return _Program(self._command, str(self._folder), files)

    def _start(self) -> Address:
        self.stop()  # of another program, or deaf: two never share one data folder
        token, program = secrets.token_urlsafe(32), self._program()
        begin = self._log_file.stat().st_size if self._log_file.exists() else 0
        pid = self._launch(token)
        try:
            address = self._wait_for_address(pid, begin, token)
            state = _State(address, pid, token, program, psutil.Process(pid).cwd())
        except (NetworkFault, psutil.Error) as error:
            with contextlib.suppress(psutil.Error):
                _end(psutil.Process(pid))
            if isinstance(error, NetworkFault):
                raise
            raise self._not_started(begin, token) from error
        temporary = self._state_file.with_suffix(".new")
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(asdict(state)), encoding="utf-8")
        temporary.replace(self._state_file)
        return Address(state.address, state.token)

    def _launch(self, token: str) -> int:
        """Start the command in a session of its own; a shell in between leaves it to init, so that it outlives us."""
        self._log_file.touch(mode=0o600)
        detached = 'log="$1"; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'
        launched = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", detached, "sh", str(self._log_file.resolve()), *self._command],
            cwd=self._folder, env=self._environment(token), start_new_session=True, check=True,
            capture_output=True, timeout=_START_S,
        )  # fmt: skip
        return int(launched.stdout)

    def _environment(self, token: str) -> dict[str, str]:
        return {**passed_on(), "SERVICE_TOKEN": token, "SERVICE_DATA": str(self._data_folder.resolve())}

    def _wait_for_address(self, pid: int, begin: int, token: str) -> str:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            with self._log_file.open("rb") as log:
                log.seek(begin)
                for line in log:
                    if (address := _address_in(line)) is not None:
                        return address
            if not _runs(pid):
                break
            time.sleep(0.02)
        raise self._not_started(begin, token)

    def _not_started(self, begin: int, token: str) -> NetworkFault:
        said = self._last_line(begin, token)
        return NetworkFault(
            f"The local service of connection {self._name} did not start ({' '.join(self._command)}). "
            f"{f'The last line of its log: {said}' if said else 'It said nothing.'} All of it: {self._log_file}",
            connection=self._name, log=str(self._log_file), said=said,
        )  # fmt: skip

    def _last_line(self, begin: int, token: str) -> str:
        """Return the last line that the service wrote since it was started, as one clean line without its token."""
        with self._log_file.open("rb") as log:
            log.seek(begin)
            lines = log.read().decode(errors="replace").replace(token, "…").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return "".join(sign if sign.isprintable() else " " for sign in last).strip()[:_QUOTED]

    def _read_state(self) -> _State | None:
        try:
            told = json.loads(self._state_file.read_text(encoding="utf-8"))
            return _State(**{**told, "program": _Program(**told["program"])})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):  # written by another version, or by hand: start anew
            return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the start lock; the kernel frees it when its holder dies."""
        deadline = time.monotonic() + 2 * _START_S
        with self._lock_file.open("w") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise NetworkFault(
                            f"Another process has been starting the service of connection {self._name} for too long. "
                            f"Look at {self._log_file}.",
                            connection=self._name,
                        ) from None  # fmt: skip
                    time.sleep(0.02)
            yield


def passed_on() -> dict[str, str]:
    """Return what programs that are started here get of the environment: where programs are, the language, the zone."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def _address_in(line: bytes) -> str | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    address = told.get("address") if isinstance(told, dict) else None
    return address if isinstance(address, str) else None


def _answers(state: _State) -> bool:
    """Whether the service of that state, and no other that took its port, answers."""
    target = urlsplit(state.address)
    connection = HTTPConnection(target.hostname or "", target.port, timeout=_HEALTH_S)
    try:
        connection.request("GET", "/health", headers={"Authorization": f"Bearer {state.token}"})
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _process_of(state: _State) -> psutil.Process | None:
    """Return the process of that state; None when it is gone or the number now belongs to another program.

    The token was made for this one start and stands in no other environment.
    """
    try:
        process = psutil.Process(state.pid)
        return process if process.environ().get("SERVICE_TOKEN") == state.token else None
    except psutil.Error:
        return None


def _stands(state: _State) -> bool:
    """Whether the process still works where it began: a folder that was moved took its old process along."""
    process = _process_of(state)
    try:
        return process is not None and process.cwd() == state.cwd
    except psutil.Error:
        return False


def _end(process: psutil.Process) -> None:
    """Ask it to end, and end it when it does not; who started it, and when that one notices, does not matter."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        if not _ended(process):
            process.kill()
            _ended(process)


def _ended(process: psutil.Process) -> bool:
    deadline = time.monotonic() + _END_S
    while _runs(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not _runs(process.pid)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
