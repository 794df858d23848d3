"""Settings as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.settings.load import Settings, load
from runtime.settings.names import fields_of, meanings_of
from runtime.settings.rows import markdown, rows


def test_every_setting_has_a_meaning_that_ends_like_a_sentence() -> None:
    meanings = meanings_of(Settings)
    assert meanings.keys() == {name for name, _ in fields_of(Settings)}
    for name, meaning in meanings.items():
        assert meaning, f"{name} says nothing about itself"
        assert meaning.endswith((".", ")")), name


def test_rows_tell_value_source_and_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON_SQL__ROWS", "9")

    row = next(row for row in rows(load({"home": tmp_path})) if row.name == "sql.rows")

    assert (row.variable, row.value, row.source, row.default) == ("SILICON_SQL__ROWS", 9, "environment", 50_000)


def test_a_password_in_an_address_is_blotted_out(tmp_path: Path) -> None:
    shown = rows(load({"home": tmp_path, "ledger.url": "mysql+pymysql://root:hunter22@db/silicon"}))

    assert "hunter22" not in repr(shown)
    assert next(row for row in shown if row.name == "ledger.url").value == "mysql+pymysql://root:[redacted]@db/silicon"


def test_a_password_in_the_address_of_models_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:hunter22@models.test/v1")
    settings = load({"home": tmp_path})

    assert "hunter22" in [secret.get_secret_value() for secret in settings.secrets()]
    assert "hunter22" not in repr(rows(settings))


@pytest.mark.parametrize("name", ["ledger.url", "bus.url"])
def test_no_part_of_a_password_that_runs_into_the_host_is_told(tmp_path: Path, name: str) -> None:
    settings = load({"home": tmp_path, name: "mysql://me:S3cr@et/PW@db/silicon"})

    assert next(row for row in rows(settings) if row.name == name).value == "mysql://me:[redacted]@db/silicon"
    assert "S3cr@et/PW" in [secret.get_secret_value() for secret in settings.secrets()]


def test_the_page_in_the_docs_is_the_one_the_program_makes() -> None:
    page = Path(__file__).parents[3] / "docs" / "settings.md"

    assert page.read_text(encoding="utf-8") == markdown(), "run `silicon settings --markdown > docs/settings.md`"
