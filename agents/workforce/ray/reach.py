"""Whether a Ray answers where RAY_ADDRESS says, found out within seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from agents.workforce.errors import RayUnavailable

_MOST_S = 60.0
"""For the whole probe, which takes a second where Ray answers: a loaded machine imports Ray slowly."""
_PATIENCE = {
    "RAY_gcs_rpc_server_connect_timeout_s": "1",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    "RAY_gcs_server_request_timeout_seconds": "5",
}
"""Ray's own limits, in seconds; without them it tries for minutes."""
_PROGRAM = Path(__file__).with_name("probe.py")


def address_given() -> str:
    """Return RAY_ADDRESS; empty where a Ray is to be started here, which `local` asks for too."""
    address = os.environ.get("RAY_ADDRESS", "")
    return "" if address == "local" else address


def require_answer(address: str) -> None:
    """Return when a Ray answers at the address and lets this process in.

    Args:
        address: as RAY_ADDRESS has it: `auto`, `host:port` or `ray://host:port`.

    Raises:
        RayUnavailable: none does, and why.
    """
    command = [sys.executable, "-P", str(_PROGRAM), address]
    environment = {**_PATIENCE, **os.environ}
    try:
        done = subprocess.run(  # noqa: S603 - ours
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_MOST_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise unavailable(address, f"it gave no answer within {_MOST_S:.0f} s") from error
    if done.returncode:
        raise unavailable(address, _reason(done.stdout, done.stderr))


def unavailable(address: str, reason: str) -> RayUnavailable:
    """Return the error for an address; the reason may be what Ray says."""
    if "auth" in reason.lower() and "token" in reason.lower():
        mend = (
            "It demands a token: copy ~/.ray/auth_token of the machine where it was started here, and set "
            "RAY_AUTH_MODE=token."
        )
        return RayUnavailable(
            f"The Ray at {address} (RAY_ADDRESS) does not let this process in. {mend}", address=address, reason="token"
        )
    return RayUnavailable(
        f"The Ray at {address} (RAY_ADDRESS) cannot be used: {reason.rstrip('.')}. Set RAY_ADDRESS to where one runs "
        "(`ray status`), unset it so that one is started here, or use the engine inline.",
        address=address,
    )


def _reason(said: str, log: str) -> str:
    """Return why the probe failed, of what it said and Ray wrote; Ray may have ended it before it said anything."""
    if said.strip():
        return " ".join(said.split())
    if "Failed to connect to GCS" in log:
        return "what listens there does not answer as a Ray"
    lines = [line.partition("] ")[2] for line in log.splitlines() if line.startswith("[")]
    return lines[-1].strip() if lines else "Ray ended while it connected, and did not say why"
