"""The description is complete, true to what is served, and stands in the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from console.api.problems import MEDIA_TYPE
from tests.console.api.conftest import Served

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[3] / "docs" / "http-api.md").read_text(encoding="utf-8")


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


async def test_the_description_is_served_and_everything_it_refers_to_is_there(served: Served) -> None:
    async with served.client() as client:
        schema = (await client.get("/openapi.json")).json()

    named = set(references(schema))
    assert named
    for reference in named:
        place: Any = schema
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


async def test_every_route_says_what_it_does_takes_gives_and_refuses(served: Served) -> None:
    schema = served.api.openapi()
    for method, path, operation in operations(schema):
        here = f"{method} {path}"
        assert operation["description"], here
        assert all(each.get("description") for each in operation.get("parameters", ())), here
        good = [each for status, each in operation["responses"].items() if status.startswith("2")]
        assert all(each["description"] for each in good), here
        if path.startswith("/api/"):
            refused = {status for status in operation["responses"] if status >= "400"}
            assert {"401", "403", "422", "429", "500", "503"} <= refused, here
            assert ("404" in refused) == ("{" in path or "requestBody" in operation), here
            assert ("410" in refused) == ("{execution}" in path), here
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for response in schema["components"]["responses"].values():
        assert list(response["content"]) == [MEDIA_TYPE]


async def test_every_field_of_what_is_given_and_taken_is_explained(served: Served) -> None:
    missing = []
    for name, model in served.api.openapi()["components"]["schemas"].items():
        for field, described in model.get("properties", {}).items():
            if not described.get("description") and "$ref" not in described and field != "schema_version":
                missing.append(f"{name}.{field}")

    assert missing == []


async def test_every_example_of_a_body_is_taken(served: Served) -> None:
    from console.api.asked import NewExecution

    examples = NewExecution.model_json_schema()["examples"]
    taken = [NewExecution.model_validate_json(json.dumps(example)) for example in examples]

    assert taken
    assert [each.goal for each in taken] == [example["goal"] for example in examples]


async def test_every_route_and_every_problem_stands_in_the_documentation(served: Served) -> None:
    routes = [f"`{method} {path}`" for method, path, _ in operations(served.api.openapi())]
    own = re.findall(r'(?:problem|_Refused)\(\s*\d+, "([A-Z_]+)"', _sources())

    assert [each for each in routes if each not in PAGE] == []
    assert own
    assert [code for code in {*own, "INVALID_REQUEST", "NO_SUCH_PATH"} if f"`{code}`" not in PAGE] == []


def _sources() -> str:
    folder = Path(__file__).parents[3] / "console" / "api"
    return "\n".join(file.read_text() for file in sorted(folder.glob("*.py")))
