"""Reads all settings once, from every place they may stand in, and refuses what it does not know."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from contracts import Json
from runtime.addresses import secrets_in, shown
from runtime.errors import SettingsError
from runtime.plain_words import in_plain_words
from runtime.settings.access import AccessSettings
from runtime.settings.alerts import AlertSettings, AttentionSettings
from runtime.settings.channels import ChannelSettings
from runtime.settings.context import ContextSettings
from runtime.settings.evaluation import EvaluationSettings
from runtime.settings.groups import (
    ApprovalSettings,
    BlackboardSettings,
    BrowserSettings,
    BusSettings,
    ClusterSettings,
    DoctorSettings,
    EngineSettings,
    ExecutorSettings,
    FileSettings,
    HttpSettings,
    LedgerSettings,
    LogSettings,
    McpSettings,
    RaySettings,
    RetentionSettings,
    SensorSettings,
    ServerSettings,
    SlotSettings,
    SqlSettings,
    WorkforceSettings,
)
from runtime.settings.heartbeat import HeartbeatSettings
from runtime.settings.home import find_home
from runtime.settings.memory import MemorySettings
from runtime.settings.models import ModelSettings, SkillSettings  # fmt: skip
from runtime.settings.names import PREFIX, Given, check_names, environment_name, flatten, nest

FILE = "settings.toml"


class Settings(BaseSettings):
    """Every setting, read once at the start."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        case_sensitive=False,
        hide_input_in_errors=True,
    )

    home: Path
    """Folder with the embedded database, the log and `settings.toml`. Without one: the nearest `.silicon` upward."""
    language: str = Field(default="en", pattern="^(en|zh)$")
    """Language of the command line: en or zh."""
    ledger: LedgerSettings = LedgerSettings()
    retention: RetentionSettings = RetentionSettings()
    bus: BusSettings = BusSettings()
    server: ServerSettings = ServerSettings()
    access: AccessSettings = AccessSettings()
    channels: ChannelSettings = ChannelSettings()
    engine: EngineSettings = EngineSettings()
    executor: ExecutorSettings = ExecutorSettings()
    workforce: WorkforceSettings = WorkforceSettings()
    ray: RaySettings = RaySettings()
    slot: SlotSettings = SlotSettings()
    cluster: ClusterSettings = ClusterSettings()
    files: FileSettings = FileSettings()
    browser: BrowserSettings = BrowserSettings()
    http: HttpSettings = HttpSettings()
    mcp: McpSettings = McpSettings()
    sql: SqlSettings = SqlSettings()
    approval: ApprovalSettings = ApprovalSettings()
    sensor: SensorSettings = SensorSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    alerts: AlertSettings = AlertSettings()
    attention: AttentionSettings = AttentionSettings()
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    blackboard: BlackboardSettings = BlackboardSettings()
    skills: SkillSettings = SkillSettings()
    context: ContextSettings = ContextSettings()
    memory: MemorySettings = MemorySettings()
    model: ModelSettings = ModelSettings()
    doctor: DoctorSettings = DoctorSettings()
    log: LogSettings = LogSettings()

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    _secrets: dict[str, SecretStr] = PrivateAttr(default_factory=dict)
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from `load` only, which has read and compared the sources."""
        return (init_settings,)

    def source_of(self, name: str) -> str:
        """Return where the value of a setting came from: `given`, `environment`, `file`, `home folder` or `default`."""
        return self._sources.get(name, "default")

    @property
    def given(self) -> Mapping[str, Any]:
        """What `load` was given, by dotted name: with it and the home folder another process has the same settings."""
        return self._given

    def model_key(self) -> SecretStr | None:
        """Return the key of the model's endpoint, or None; it never stands in a value that is printed."""
        return self._secrets.get("model.api_key")

    def secrets(self) -> tuple[SecretStr, ...]:
        """Return every secret value known at the start, for redaction."""
        return tuple(self._secrets.values())


def load(given: Mapping[str, Any] | None = None, *, working: Path | None = None) -> Settings:
    """Return the settings: what is `given` (dotted name → value), else environment, else `settings.toml`, else default.

    Raises:
        SettingsError: settings that do not exist or cannot be used, all of them at once.
    """
    environment = {name: value for name, value in os.environ.items() if name.startswith(PREFIX) and value}
    chosen = dict(given or {})
    if chosen.get("home"):
        environment["SILICON_HOME"] = str(chosen["home"])
    home = find_home(environment, working or Path.cwd())
    path = home / FILE
    in_file = _read_file(path)
    check_names(Settings, file=in_file, path=path, environment=environment, given=chosen)
    in_environment = flatten(EnvSettingsSource(Settings)()) if environment else {}
    values = Given()
    values.add(in_file, f"file {path}")
    values.add(in_environment, "environment")
    values.add(chosen, "given")
    source = "given" if "home" in chosen else "environment" if "home" in values.sources else "home folder"
    values.add({"home": home}, source)
    settings = _validate(values)
    settings._sources.update(values.sources)
    settings._given.update(chosen)
    return _with_secrets(settings, values)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return flatten(tomllib.load(file))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} cannot be read as TOML: {error}.", file=str(path)) from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", file=str(path)) from error


def _validate(values: Given) -> Settings:
    try:
        return Settings(**nest(values.values))
    except ValidationError as error:
        lines: list[Json] = []
        for fault in error.errors(include_url=False, include_input=False):
            name = ".".join(str(part) for part in fault["loc"])
            lines.append(f"{_place(name, values.sources)} {in_plain_words(fault)}.")
        raise SettingsError("\n".join(map(str, lines)), settings=lines) from error


def _place(name: str, sources: Mapping[str, str]) -> str:
    source = sources.get(name, "default")
    return f"{environment_name(name)} (environment)" if source == "environment" else f"{name} ({source})"


def _with_secrets(settings: Settings, values: Given) -> Settings:
    """Fill in what stands in files of its own, and remember it as secret."""
    for group in ("ledger", "bus"):
        settings = _with_address(settings, group)
        for number, part in enumerate(secrets_in(getattr(settings, group).url)):
            settings._secrets[f"{group}.url part {number}"] = SecretStr(part)
    settings = _with_endpoint(settings)
    _require_address(settings.model.base_url)
    for number, part in enumerate(secrets_in(settings.model.base_url)):
        settings._secrets[f"model.base_url part {number}"] = SecretStr(part)
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if settings.model.api_key_file:
        key = _read_secret("model.api_key_file", settings.model.api_key_file)
    if key:
        settings._secrets["model.api_key"] = SecretStr(key)
    return settings


def _with_endpoint(settings: Settings) -> Settings:
    """Fill in the address of models under the name that the official client knows, where no other one is set."""
    url = os.environ.get("OPENAI_BASE_URL", "")
    if settings.model.base_url or not url:
        return settings
    filled = settings.model_copy(update={"model": settings.model.model_copy(update={"base_url": url})})
    filled._sources["model.base_url"] = "environment"
    return filled


def _require_address(url: str) -> None:
    """Raise SettingsError for what no request can be sent to."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is none, a bracket that is not closed
        usable = False
    if url and not usable:
        raise SettingsError(
            f"model.base_url (OPENAI_BASE_URL) is no address of a model endpoint: {shown(url)}. It is one like "
            "https://host/v1.",
            setting="model.base_url",
        )


def _with_address(settings: Settings, group: str) -> Settings:
    """Fill in an address that stands in a file of its own, because it holds a password."""
    chosen = getattr(settings, group)
    if not chosen.url_file:
        return settings
    if chosen.url:
        raise SettingsError(f"{group}.url and {group}.url_file are both set; leave one of them out.")
    url = _read_secret(f"{group}.url_file", chosen.url_file)
    filled = settings.model_copy(update={group: chosen.model_copy(update={"url": url})})
    filled._sources.update({f"{group}.url": f"file {chosen.url_file}"})
    filled._secrets[f"{group}.url"] = SecretStr(url)
    return filled


def _read_secret(name: str, file: str) -> str:
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SettingsError(f"{name}: {file} cannot be read: {reason}.", setting=name, file=file) from error
    if not text:
        raise SettingsError(f"{name}: {file} is empty.", setting=name, file=file)
    return text
