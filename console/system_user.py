"""Whom the operating system says that we are."""

from __future__ import annotations

import getpass
import os


def system_user() -> str:
    """Return the name of the system user, or `uid-NUMBER` where there is none, as in a container of any user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
