"""Who acts where the operating system has no name for the user."""

from __future__ import annotations

import getpass
import os
import pwd
from typing import NoReturn

import pytest

from console.system_user import system_user


def test_the_name_is_that_of_the_system() -> None:
    assert system_user() == getpass.getuser()


def test_a_user_without_a_name_is_called_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(number: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)

    assert system_user() == f"uid-{os.getuid()}"
