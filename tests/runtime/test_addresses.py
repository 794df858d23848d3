"""No part of a password is shown, however the address is written."""

from __future__ import annotations

import pytest

from runtime.addresses import secrets_in, shown


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("mysql://me:S3cr@et/PW@host/x", "mysql://me:[redacted]@host/x"),
        ("redis://:S3cr#et?PW@host:1/0", "redis://:[redacted]@host:1/0"),
        ("mysql://m/e@S3cr:et@host/x", "mysql://:[redacted]@host/x"),
        ("mysql://m/S3cret@host/x", "mysql://:[redacted]@host/x"),
        ("mysql://me@host/x?password=S3cret&charset=utf8", "mysql://me@host/x?password=[redacted]&charset=utf8"),
    ],
)
def test_everything_from_the_first_colon_of_the_login_to_the_last_at_is_blotted_out(address: str, seen: str) -> None:
    assert shown(address) == seen
    assert list(secrets_in(address)) or "password" not in address


@pytest.mark.parametrize("address", ["mysql://me@host:3306/x", "sqlite:////a@b/c:d@e.db", "redis://h/0", "", "nowhere"])
def test_an_address_without_a_password_is_shown_as_it_is(address: str) -> None:
    assert shown(address) == address
    assert list(secrets_in(address)) == []


def test_a_password_is_known_in_each_form_in_which_it_may_turn_up() -> None:
    assert set(secrets_in("mysql://me:p%40ss%2Fw@host/x")) == {"p%40ss%2Fw", "p@ss/w"}
