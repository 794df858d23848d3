"""One loader reads every setting, and nothing it does not know passes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.access.rate_limits import RateLimiter
from runtime.clock import SystemClock
from runtime.errors import SettingsError
from runtime.settings.home import find_home
from runtime.settings.load import Settings, load
from runtime.settings.names import fields_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, and an environment without settings."""
    import os

    for name in [name for name in os.environ if name.startswith("SILICON_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SILICON_HOME", str(tmp_path))
    return tmp_path


def test_without_file_and_environment_every_value_is_a_default(home: Path) -> None:
    settings = load()

    assert settings.home == home
    assert settings.executor.lease_s == 15
    assert settings.source_of("executor.lease_s") == "default"


TIMES = [name for name, info in fields_of(Settings) if name.endswith(("_s", "_days", "_ms", "_min"))]


@pytest.mark.parametrize("value", ["1e12", "inf", "nan", "1e400"])
@pytest.mark.parametrize("name", TIMES)
def test_a_time_that_no_calendar_or_clock_can_hold_is_refused(home: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load({name: value})


@pytest.mark.parametrize("given", [{"executor.lease_s": 5}, {"executor.renew_s": 15}])
def test_a_claim_that_runs_out_before_it_is_renewed_is_refused(home: Path, given: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"executor\.renew_s .*runs out before"):
        load(given)


def test_the_longest_times_can_be_added_to_a_date(home: Path) -> None:
    settings = load({"retention.executions_days": 36_525, "approval.within_s": 316_224_000, "server.rate_per_s": 0.001})

    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert now - timedelta(days=settings.retention.executions_days) < now
    assert now + timedelta(seconds=settings.approval.within_s) > now
    assert RateLimiter(SystemClock(), per_s=settings.server.rate_per_s, burst=1_000_000).take("a") == 0


def test_environment_wins_over_the_file_and_given_over_both(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "settings.toml").write_text('language = "zh"\n[sql]\nrows = 7\ntimeout_s = 3\n[slot]\ncount = 2\n')
    monkeypatch.setenv("SILICON_SQL__ROWS", "8")
    monkeypatch.setenv("SILICON_SLOT__COUNT", "3")

    settings = load({"slot.count": 4})

    assert (settings.sql.rows, settings.sql.timeout_s, settings.slot.count, settings.language) == (8, 3, 4, "zh")
    assert settings.source_of("sql.rows") == "environment"
    assert settings.source_of("sql.timeout_s") == f"file {home / 'settings.toml'}"
    assert settings.source_of("slot.count") == "given"


def test_every_unknown_name_is_told_at_once_with_what_was_meant(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "settings.toml").write_text("[sql]\nrow = 7\n[ledgr]\nurl = 'x'\n")
    monkeypatch.setenv("SILICON_LEDGER_URL", "sqlite://")
    monkeypatch.setenv("SILICON_TEST_MYSQL", "passed over")

    with pytest.raises(SettingsError) as error:
        load()

    text = error.value.message
    assert "sql.row (in" in text
    assert "Did you mean sql.rows?" in text
    assert "Did you mean ledger.url?" in text
    assert "SILICON_LEDGER_URL (in the environment) is not a setting. Did you mean SILICON_LEDGER__URL?" in text
    assert "SILICON_TEST_MYSQL" not in text


@pytest.mark.parametrize("name", ["SILICON_TOKEN", "SILICON_HOST", "SILICON_DEBUG"])
def test_a_variable_of_another_program_is_told_how_to_mend_without_a_guess(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "a-secret")

    with pytest.raises(SettingsError) as error:
        load()

    text = error.value.message
    assert f"{name} (in the environment) is not a setting." in text
    assert "Did you mean" not in text
    assert f"`unset {name}`" in text
    assert "a-secret" not in text


def test_a_group_as_a_whole_is_no_setting_of_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON_MODEL", "some-model")

    with pytest.raises(SettingsError, match=r"SILICON_MODEL .*Did you mean SILICON_MODEL__"):
        load()


def test_every_wrong_value_is_told_with_its_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "settings.toml").write_text("[executor]\nlease_s = -1\n")
    monkeypatch.setenv("SILICON_SLOT__MEMORY_MIB", "much")

    with pytest.raises(SettingsError) as error:
        load()

    assert "executor.lease_s (file" in error.value.message
    assert "SILICON_SLOT__MEMORY_MIB (environment)" in error.value.message
    assert "much" not in error.value.message


def test_a_file_that_is_no_toml_is_told_with_its_name(home: Path) -> None:
    (home / "settings.toml").write_text("[sql\n")

    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read as TOML"):
        load()


def test_an_address_with_a_password_comes_from_a_file(home: Path) -> None:
    (home / "address").write_text("mysql+pymysql://root:hunter22@db/silicon\n")

    settings = load({"ledger.url_file": str(home / "address")})

    assert settings.ledger.url == "mysql+pymysql://root:hunter22@db/silicon"
    assert settings.source_of("ledger.url") == f"file {home / 'address'}"


def test_a_key_file_that_is_missing_is_named(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"model\.api_key_file: /nowhere/key cannot be read"):
        load({"model.api_key_file": "/nowhere/key"})


def test_the_key_of_the_model_is_a_secret(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-some-length")

    settings = load()

    key = settings.model_key()
    assert key is not None
    assert key.get_secret_value() == "a-key-of-some-length"
    assert "a-key-of-some-length" not in repr(settings) + settings.model_dump_json()


def test_home_is_the_nearest_silicon_folder_upward(tmp_path: Path) -> None:
    (tmp_path / ".silicon").mkdir()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)

    assert find_home({}, below) == tmp_path.resolve() / ".silicon"


def test_home_is_here_when_there_is_none_upward_and_nothing_is_created(tmp_path: Path) -> None:
    assert find_home({}, tmp_path) == tmp_path.resolve() / ".silicon"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["not a url", "ftp://host/v1", "http://", "http://[::1", "http://host:99999/v1"])
def test_an_address_of_models_that_is_none_is_told_at_once(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="no address of a model endpoint"):
        load({"home": tmp_path, "model.base_url": url})


def test_a_key_may_end_in_a_line_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0815\n")
    key = load({"home": tmp_path}).model_key()
    assert key is not None
    assert key.get_secret_value() == "sk-canary-0815"
