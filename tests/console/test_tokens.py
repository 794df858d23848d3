"""`silicon tokens`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts import TokenId
from governance.access import Token
from tests.console.conftest import Silicon
from tests.fakes.console_values import NOW, TOKEN, a_token


def test_a_token_is_shown_once_with_whom_it_acts_as(silicon: Silicon) -> None:
    lines = silicon("tokens", "create", "night report", "--for", "org", "--as", "duty-planner").out.splitlines()

    assert silicon.code == 0
    assert silicon.application.asked[1] == ("create_token", ("night report", Path("org"), "duty-planner"))
    assert lines[:2] == ["Keep this token now; it is not shown again:", "silicon_text"]
    assert "duty-planner · three-airports" in lines[3]


def test_the_text_of_a_token_is_in_no_list(silicon: Silicon) -> None:
    listed = silicon("tokens", "list", "--json").json["tokens"]

    assert [each["name"] for each in listed] == ["night report", "old"]
    assert all(set(each).isdisjoint({"token", "secret_sha256"}) for each in listed)
    assert "anybody, in every organisation" in silicon("tokens", "list").out


def test_a_token_is_for_one_person_or_for_an_administrator(silicon: Silicon) -> None:
    for words in ([], ["--as", "duty-planner"], ["--for", "org"], ["--admin", "--as", "duty-planner"]):
        assert silicon("tokens", "create", "x", *words).code == 2
    assert silicon("tokens", "create", "x", "--admin").code == 0


def test_a_token_of_a_bridge_names_its_organisations_and_labels(silicon: Silicon) -> None:
    words = ["--bridge", "--for", "shop", "--for", "bakery", "--label", "till", "--label", "counter"]

    shown = silicon("tokens", "create", "till", *words).out

    asked = ("till", [Path("shop"), Path("bakery")], ["till", "counter"])
    assert silicon.application.asked[1] == ("create_bridge_token", asked)
    assert "a bridge, for orders of corner-shop (till, counter)" in shown


def test_a_token_of_a_bridge_is_nobodys_else(silicon: Silicon) -> None:
    for words in (
        ["--bridge"],
        ["--bridge", "--for", "shop", "--as", "owner"],
        ["--bridge", "--for", "shop", "--admin"],
    ):
        assert silicon("tokens", "create", "x", *words).code == 2
    for words in (["--for", "a", "--for", "b", "--as", "owner"], ["--for", "a", "--as", "owner", "--label", "till"]):
        assert silicon("tokens", "create", "x", *words).code == 2


def test_a_second_token_of_the_same_name_is_made_and_the_first_is_named(
    silicon: Silicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, gone = replace(a_token(), token_id=TokenId.new()), replace(a_token(), token_id=TokenId.new(), revoked_at=NOW)

    async def there() -> list[Token]:
        return [first, gone]

    monkeypatch.setattr(silicon.application, "tokens", there)
    made = silicon("tokens", "create", first.name, "--admin", "--json").json

    assert (made["token"], made["same_name"]) == ("silicon_text", [first.token_id])
    assert f"Called “{first.name}” are also {first.token_id}," in " ".join(
        silicon("tokens", "create", first.name, "--admin").err.split()
    )
    assert silicon("tokens", "create", "another", "--admin").err == ""


def test_a_token_is_revoked_by_the_last_letters_of_its_id(silicon: Silicon) -> None:
    silicon("tokens", "revoke", "0TKN")

    assert silicon.application.asked[1] == ("revoke_token", TOKEN)
    assert silicon.out.splitlines()[0] == "The token counts no more."
