"""Secrets by name: from the environment, or from a file in the folder of secrets. Never kept, never shown.

A secret that was looked up is blotted out of every event and log line from then on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from runtime.errors import AccessDenied
from runtime.telemetry.redaction import register

SECRETS_FOLDER = Path("/run/secrets")
"""Where container platforms put secrets, one file each."""


class Secrets:
    """Looks secrets up when they are needed."""

    def __init__(self, environment: Mapping[str, str] | None = None, folder: Path = SECRETS_FOLDER) -> None:
        self._environment = os.environ if environment is None else environment
        self._folder = folder

    def get(self, name: str) -> str:
        """Return the secret; raise AccessDenied, saying where it is looked for, when there is none."""
        value = self._environment.get(name)
        try:
            value = value or (self._folder / name).read_text(encoding="utf-8").strip()
        except OSError:
            raise AccessDenied(
                f"The secret {name} is not set. Put it into the environment variable {name} or the file "
                f"{self._folder / name}.",
                secret=name,
            ) from None
        register([value])
        return value
