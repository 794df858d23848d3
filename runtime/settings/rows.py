"""Settings as people read them: one line each, with value, source, default and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime.addresses import shown
from runtime.settings.load import Settings
from runtime.settings.names import environment_name, fields_of, meanings_of
from runtime.telemetry.redaction import redact


@dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    name: str
    variable: str
    value: Any
    source: str
    default: Any
    meaning: str


def rows(settings: Settings) -> list[Row]:
    """Return every setting in the order of the documentation; secrets are blotted out."""
    values, meanings = settings.model_dump(mode="json"), meanings_of(Settings)
    return [
        Row(
            name=name,
            variable=environment_name(name),
            value=redact(shown(value) if name.endswith("url") else value),
            source=settings.source_of(name),
            default=_default(info.get_default()),
            meaning=meanings[name],
        )
        for name, info in fields_of(Settings)
        for value in (_value(values, name),)
    ]


def markdown() -> str:
    """Return the page about all settings."""
    lines, meanings = [_HEAD], meanings_of(Settings)
    group = ""
    for name, info in fields_of(Settings):
        first = name.partition(".")[0] if "." in name else ""
        if first != group or len(lines) == 1:
            group = first
            lines += ["", f"## {group.capitalize() or 'General'}", *_meaning(group), *_TABLE]
        lines.append(
            f"| `{name}` | `{environment_name(name)}` | {_shown(_default(info.get_default()))} | {meanings[name]} |"
        )
    return "\n".join(lines) + "\n"


_TABLE = ("", "| setting | variable | default | meaning |", "|---|---|---|---|")
_HEAD = """# Settings

This page is made from the program by `silicon settings --markdown`; change the program, not the page.

A value is taken from the first place that has one: what the command line gives, the environment, the file
`settings.toml` in the home folder (`[ledger]`, and below it `url = "…"`), the default. A name that is no setting is an
error, in the file and in the environment. Secrets stand in files of their own (`*_file`) or in the environment, and are
never printed. `silicon settings` shows the value of each setting and where it came from."""


def _meaning(group: str) -> list[str]:
    if not group:
        return []
    annotation = Settings.model_fields[group].annotation
    return ["", (annotation.__doc__ or "").strip()] if annotation else []


def _value(values: dict[str, Any], name: str) -> Any:
    for part in name.split("."):
        values = values[part]
    return values


def _default(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else None


def _shown(value: Any) -> str:
    return "" if value in ("", None) else f"`{value}`"
