"""What a program of the slot may read beside its folder: the interpreter, and the system's programs and libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cluster.sandbox import inside
from runtime.capabilities.port import Grants

INSIDE = Path(inside.__file__).parent
"""The folder of what runs in front of a program."""
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/localtime",
    "/etc/timezone", "/etc/mime.types",
)  # fmt: skip
_NETWORK = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
)  # fmt: skip
"""Names and certificates, which a program with a network needs."""


def readable(interpreter: str, grants: Grants) -> list[str]:
    """Return what may be read and executed, widest first; what is not on this machine is left out."""
    wanted = [*_SYSTEM, *(_NETWORK if grants.network else ()), *_homes(interpreter), str(INSIDE)]
    wanted += map(str, grants.read)
    return outermost(path for path in wanted if os.path.exists(path))  # noqa: PTH110


def outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that lie in no other one, sorted."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: (path.count("/"), path)):
        if not any(path.startswith(f"{above}/") for above in kept):
            kept.append(path)
    return kept


@cache
def _homes(interpreter: str) -> tuple[str, ...]:
    """Return the folders of an interpreter: those of its environment and of the installation behind it."""
    if interpreter == sys.executable:
        prefixes = [sys.prefix, sys.base_prefix]
    else:
        asked = subprocess.run(  # noqa: S603
            [interpreter, "-I", "-S", "-c", "import sys; print(sys.prefix); print(sys.base_prefix)"],
            capture_output=True, text=True, timeout=30, check=True, env={"PATH": os.defpath},
        )  # fmt: skip
        prefixes = asked.stdout.splitlines()
    real = os.path.realpath(interpreter)
    return (*prefixes, *(os.path.realpath(prefix) for prefix in prefixes), os.path.dirname(real))  # noqa: PTH120
