"""The names of settings: which there are, which somebody wrote, and which was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from contracts import Json
from contracts.docstrings import field_texts
from runtime.errors import SettingsError

PREFIX = "SILICON_"
PASSED_OVER = "SILICON_TEST_"
"""Variables that the project's own tests use."""
_UNSET = f" If it is another program's, name it without {PREFIX} or `unset {{name}}`."
_CLOSE = 0.75
"""How alike two names are, from 0 to 1, for one to be a slip of the other (difflib's ratio, the prefix left out)."""


@dataclass
class Given:
    """Values by dotted name, and the source of each; a later `add` wins."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def add(self, values: Mapping[str, Any], source: str) -> None:
        """Put `values` in, over those that are there."""
        for name, value in values.items():
            self.values[name] = value
            self.sources[name] = source


def fields_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield every setting of `model` with its dotted name, in the order they are declared."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from fields_of(info.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", info


def meanings_of(model: type[BaseModel], prefix: str = "") -> Mapping[str, str]:
    """Return setting, by its dotted name → what it means: the text below it in the program, on one line."""
    meanings: dict[str, str] = {}
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            meanings |= meanings_of(info.annotation, f"{prefix}{name}.")
        else:
            text = info.description or field_texts(model).get(name, "")
            meanings[f"{prefix}{name}"] = " ".join(text.split())
    return meanings


def environment_name(name: str) -> str:
    """Return the variable of a setting: `ledger.url` → `SILICON_LEDGER__URL`."""
    return PREFIX + name.replace(".", "__").upper()


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tables as one, with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted names as nested tables."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *groups, last = name.split(".")
        table = nested
        for group in groups:
            table = table.setdefault(group, {})
        table[last] = value
    return nested


def check_names(
    model: type[BaseModel],
    *,
    file: Mapping[str, Any],
    path: Path,
    environment: Mapping[str, str],
    given: Mapping[str, Any],
) -> None:
    """Raise SettingsError naming every setting that does not exist, and what was probably meant."""
    known = {name for name, _ in fields_of(model)}
    variables = {environment_name(name) for name in known}
    in_file = known - {"home"}  # the file stands in the home folder and cannot name another
    lines: list[Json] = [_unknown(name, in_file, f"in {path}") for name in file if name not in in_file]
    lines += [_unknown(name, known, "given") for name in given if name not in known]
    lines += [
        _unknown(name, variables, "in the environment") + _UNSET.format(name=name)
        for name in sorted(environment)
        if name not in variables and not name.startswith(PASSED_OVER)
    ]
    if lines:
        message = "\n".join([*map(str, lines), "`silicon settings` lists those there are."])
        raise SettingsError(message, settings=lines)


def _unknown(name: str, known: set[str], where: str) -> str:
    near = _nearest(name, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"{name} ({where}) is not a setting.{hint}"


def _nearest(name: str, known: set[str]) -> str | None:
    by_form = {each.lower(): each for each in sorted(known)}
    inside = [each for each in by_form if each.startswith((f"{name.lower()}__", f"{name.lower()}."))]
    if inside:
        return by_form[inside[-1]]
    own = {form.removeprefix(PREFIX.lower()): each for form, each in by_form.items()}
    close = difflib.get_close_matches(name.lower().removeprefix(PREFIX.lower()), own, n=1, cutoff=_CLOSE)
    return own[close[0]] if close else None
