"""`silicon doctor ORG` finds what would stop the first call of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.organisation import Organisation
from console.doctor_connections import connections_of
from console.views_system import Examined, Health
from runtime.capabilities.connections import read_connection
from runtime.capabilities.secrets import Secrets

OPERATIONS = {"look": {"method": "GET", "path": "/"}}


def found(tmp_path: Path, environment: dict[str, str] | None = None, **connection: Any) -> list[Examined]:
    declared = {"kind": "http", "operations": OPERATIONS, **connection}
    read = read_connection({name: value for name, value in declared.items() if value is not None})
    organisation = Organisation.__new__(Organisation)
    object.__setattr__(organisation, "folder", tmp_path)
    object.__setattr__(organisation, "connections", {"desk": read})
    return list(connections_of(organisation, Secrets(environment or {}, tmp_path)))


def test_hosts_are_told_with_what_stands_against_them(tmp_path: Path) -> None:
    hosts = {"kind": "hosts", "operations": None, "hosts": ["api.example.org", "127.0.0.1:8000"]}
    headers = {"authorization": {"secret": "DESK_TOKEN"}}
    private, secret = found(tmp_path, **hosts, headers=headers)
    assert private.what == "127.0.0.1:8000 is inside a private network or this machine; every call is refused"
    assert secret.what == "the secret DESK_TOKEN for the header authorization is not set"

    (good,) = found(tmp_path, {"DESK_TOKEN": "a-long-secret"}, **hosts, headers=headers, allow_private=True)
    assert (good.health, good.what) == (Health.GOOD, "http.get and http.send reach api.example.org, 127.0.0.1:8000")


def test_a_secret_that_is_not_set_is_named(tmp_path: Path) -> None:
    headers = {"authorization": {"secret": "DESK_TOKEN"}, "accept": "text/plain"}
    [told] = found(tmp_path, base="https://example.com", headers=headers)
    assert told.health is Health.BROKEN
    assert told.what == "the secret DESK_TOKEN for the header authorization is not set"
    assert "environment variable DESK_TOKEN" in told.mend

    [told] = found(tmp_path, {"DESK_TOKEN": "a-long-secret"}, base="https://example.com", headers=headers)
    assert (told.health, told.what) == (Health.GOOD, "https://example.com")
    (tmp_path / "DESK_TOKEN").write_text("another-secret")
    assert found(tmp_path, base="https://example.com", headers=headers)[0].health is Health.GOOD


@pytest.mark.parametrize("base", ["http://127.0.0.1:8000", "http://[::1]/x", "https://10.1.2.3", "http://localhost"])
def test_a_private_address_is_broken_unless_it_is_meant(tmp_path: Path, base: str) -> None:
    [told] = found(tmp_path, base=base)
    assert told.health is Health.BROKEN and "every call is refused" in told.what and "allow_private" in told.mend
    assert found(tmp_path, base=base, allow_private=True)[0].health is Health.GOOD


def test_a_service_of_ones_own_is_started_when_it_is_needed(tmp_path: Path) -> None:
    [told] = found(tmp_path, service={"command": ["python", "desk.py"]})
    assert (told.health, told.what) == (Health.GOOD, "local service, started when it is needed")
