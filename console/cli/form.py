"""The JSON form of what the faces show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from contracts import Contract
from runtime.canonical import clean


def to_data(value: Any) -> Any:
    """Return `value` as JSON: views by their fields, contracts in their outside form, the rest cleaned."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_data(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Contract():
            return value.to_json()
        case Enum():
            return value.value
        case Path():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            return {str(key): to_data(item) for key, item in value.items()}
        case list() | tuple():
            return [to_data(item) for item in value]
    return clean(value)
