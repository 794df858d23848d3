"""What a skill gave, in the words in which its own template tells a model."""

from __future__ import annotations

import logging

from agents.employee.report.sources import Page
from agents.employee.report.template import fill
from contracts import Json
from runtime.canonical import copy_of
from runtime.errors import InvalidArguments

_log = logging.getLogger(__name__)

WHOLE = "result"
"""Under this name a template finds all that the skill gave; its fields are there by their own names too."""


def told_by(template: str, name: str, output: Json) -> str | None:
    """Return the filled template, or None where it cannot be filled with this: the log says why, and JSON has to do."""
    fields = output if isinstance(output, dict) else {}
    values = {key: copy_of(value) for key, value in {**fields, WHOLE: output}.items()}
    try:
        return fill(template, name, values, Page(_key_alone), {}).strip()
    except InvalidArguments as error:
        _log.warning("what a skill gave is told as JSON: %s", error.message)
        return None


def _key_alone(key: str, /, **_facts: object) -> str:
    return key
