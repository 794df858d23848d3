"""Program: whether a Ray answers at an address; prints why not, and ends with 0 when one does.

It is a process of its own because Ray writes its tries to standard error, and ends the process that it is in when
nothing answers it: https://docs.ray.io/en/latest/ray-core/fault_tolerance/gcs.html.
"""

from __future__ import annotations

import socket
import sys
from typing import NoReturn

_CONNECT_S = 5.0
"""How long a machine has to take a connection; networks that need more are broken."""


def main(address: str) -> None:
    """Connect as Ray would.

    Args:
        address: as RAY_ADDRESS has it: `auto`, `host:port` or `ray://host:port`.
    """
    from ray._private.services import canonicalize_bootstrap_address
    from ray._raylet import GcsClient  # type: ignore[attr-defined]  # made by Cython
    from ray.exceptions import RayError

    client = address.startswith("ray://")
    try:
        found = address.removeprefix("ray://").partition("/")[0] if client else canonicalize_bootstrap_address(address)
        if found is None:
            _refuse("no Ray runs on this machine that `ray start` started")
        host, _, port = found.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        except OSError as error:
            _refuse(f"{found} cannot be reached ({error})")
        if not client:
            if address == "auto":
                _take_token_of_this_machine()
            GcsClient(address=found)
    except (RayError, OSError, ValueError, RuntimeError) as error:
        _refuse(str(error).strip())


def _refuse(reason: str) -> NoReturn:
    print(reason)
    sys.exit(1)


def _take_token_of_this_machine() -> None:
    """Use the token that lies here, as `ray.init` does for `auto` where Ray has tokens."""
    try:
        from ray._private.authentication.authentication_token_setup import maybe_enable_token_auth_if_token_available
    except ImportError:  # older than that
        return
    maybe_enable_token_auth_if_token_available(warn_if_disabled=False)


if __name__ == "__main__":
    main(sys.argv[1])
