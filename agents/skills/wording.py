"""The words in which a skill is shown to a model."""

from __future__ import annotations

from typing import Any

from agents.employee.parameters import passed_to
from agents.skills.routing import Routable
from contracts import Parameter, Text
from runtime.schema import json_schema_of_parameters


def line_of(skill: Routable) -> str:
    """Return the skill as one line of a prompt: `- name: what it does. Use when: … Not when: …`."""
    return f"- {skill.name}: {_told(skill)}"


def tool_of(skill: Routable, *, language: str = "en") -> dict[str, Any]:
    """Return the skill as a tool in the form that model endpoints take.

    Each parameter says its type and format, and what it means in `language`, an example and its default where it can.
    `at` and `day` may be left out: they follow from the moment.
    """
    parameters = passed_to(skill.plan)
    schema = json_schema_of_parameters(parameters)
    schema["properties"] = {
        name: {**inner, **_explained(parameters[name], language)} for name, inner in schema["properties"].items()
    }
    return {
        "type": "function",
        "function": {"name": skill.name, "description": _told(skill), "parameters": schema},
    }


def _told(skill: Routable) -> str:
    parts = [skill.description, _labelled("Use when", skill.when_to_use), _labelled("Not when", skill.when_not_to_use)]
    return " ".join(" ".join(part.split()) for part in parts if part)


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if text.strip() else ""


def _explained(parameter: Parameter, language: str) -> dict[str, Any]:
    told = {
        "description": _in(parameter.description, language),
        "examples": [parameter.example] if parameter.example is not None else None,
        "default": parameter.default,
    }
    return {name: value for name, value in told.items() if value not in ("", None)}


def _in(text: Text, language: str) -> str:
    if isinstance(text, str):
        return text
    return text.get(language, text.get("en", next(iter(text.values()), "")))
