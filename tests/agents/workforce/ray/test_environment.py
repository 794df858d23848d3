"""Processes of Ray get what they need of the environment, and hosts what an organisation names."""

from __future__ import annotations

import os

import pytest

from agents.workforce.ray.environment import passed_on, take, told_to_hosts

ENVIRONMENT = {"PATH": "/bin", "LC_ALL": "C", "SILICON_HOME": "/h", "DESK_TOKEN": "secret", "AWS_SECRET": "other"}


def test_only_what_programs_and_settings_need_is_passed_on() -> None:
    assert passed_on(ENVIRONMENT).keys() == {"PATH", "LC_ALL", "SILICON_HOME"}


def test_hosts_are_told_what_is_named_and_nothing_that_they_have() -> None:
    assert told_to_hosts(ENVIRONMENT, frozenset({"DESK_TOKEN", "PATH", "desk", "kind"})) == (("DESK_TOKEN", "secret"),)


def test_what_a_host_has_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN", "mine")
    monkeypatch.setenv("TOLD", "")
    monkeypatch.delenv("TOLD")

    take((("OWN", "yours"), ("TOLD", "told")))

    assert (os.environ["OWN"], os.environ["TOLD"]) == ("mine", "told")
