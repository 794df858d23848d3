"""What a Ray that is started here is given of the command's environment; the rest hosts are told where it is needed.

All processes of Ray inherit the environment of whoever starts it, and keep it as long as they live. So they are given
what programs need to run, and the settings. What an organisation's files name, secrets of its services for instance,
travels with the stretch to the hosts that work on it, and nothing else does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

_NAMES = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV",
        "LD_LIBRARY_PATH", "LD_PRELOAD", "SSL_CERT_FILE", "SSL_CERT_DIR", "DOCKER_HOST", "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    }
)  # fmt: skip
_BEGINS = ("LC_", "PYTHON", "RAY_", "SILICON_", "XDG_", "PLAYWRIGHT_", "PG", "MYSQL_")


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the processes of Ray are given."""
    return {name: value for name, value in environment.items() if name in _NAMES or name.startswith(_BEGINS)}


def told_to_hosts(environment: Mapping[str, str], names: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Return those of the names that have a value and that hosts do not have already."""
    known = passed_on(environment)
    return tuple((name, environment[name]) for name in sorted(names & environment.keys() - known.keys()))


def take(environment: tuple[tuple[str, str], ...]) -> None:
    """Have what was told at hand in this process; what it has already stays."""
    for name, value in environment:
        os.environ.setdefault(name, value)


class _Os:
    """The module `os` with another environment."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    @property
    def environ(self) -> dict[str, str]:
        """What is passed on of the environment as it is at that moment: Ray adds to it while it starts."""
        return passed_on(os.environ)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextmanager
def only_what_is_passed_on() -> Iterator[None]:
    """Let the processes that Ray starts meanwhile inherit no more than that; this process's own stays as it is."""
    services: Any = import_module("ray._private.services")
    module = services.os
    services.os = _Os(module)  # it copies `os.environ` for each process, and there is no way to hand it another
    try:
        yield
    finally:
        services.os = module
