"""How people prove who they are: passwords, sessions, and how often one may try."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import LONGEST_S, MOST_REQUESTS, Group


class AccessSettings(Group):
    """Passwords and sessions of people."""

    argon2_passes: int = Field(default=3, ge=1, le=100)
    """Passes of argon2id over its memory (RFC 9106, second recommended option); a login rehashes what was made with
    other parameters."""
    argon2_memory_mib: int = Field(default=64, ge=8, le=4_096)
    """Memory of one argon2id, MiB."""
    argon2_lanes: int = Field(default=4, ge=1, le=64)
    """Lanes of argon2id."""
    password_least: int = Field(default=12, ge=8, le=128)
    """Characters that a new password has at least."""
    session_s: float = Field(default=43_200.0, gt=0, le=LONGEST_S)
    """A session ends this long after the login, whatever is done in it (12 h)."""
    session_idle_s: float = Field(default=3_600.0, gt=0, le=LONGEST_S)
    """A session ends when nothing was asked in it for this long (1 h)."""
    logins_per_min: float = Field(default=10.0, ge=0.001, le=MOST_REQUESTS)
    """Logins that may be tried for one account in a minute, right or wrong."""
    logins_per_min_address: float = Field(default=30.0, ge=0.001, le=MOST_REQUESTS)
    """Logins that may be tried from one address in a minute, right or wrong."""
    cookie_secure: bool = True
    """Whether browsers may send the cookie of a session over TLS (and to this machine) only."""
