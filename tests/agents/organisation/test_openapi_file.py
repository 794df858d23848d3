from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agents.organisation import bundle, load, load_bundle
from runtime.capabilities.port import CapabilitySpec

PLACE = {"name": "room", "in": "path", "required": True, "schema": {"type": "string"}}
ROOM = {
    "operationId": "getRoom",
    "parameters": [PLACE],
    "responses": {
        "200": {
            "description": "",
            "content": {"application/json": {"schema": {"required": ["seats"], "properties": {"seats": {}}}}},
        }
    },
}


def test_a_document_is_pinned_with_the_folder(organisation: Path, builtin: Mapping[str, CapabilitySpec]) -> None:
    document = organisation / "office" / "office.json"
    document.parent.mkdir()
    document.write_text(json.dumps({"openapi": "3.0.1", "paths": {"/rooms/{room}": {"get": ROOM}}}))
    entry = (
        "office: {kind: http, base: 'https://office.example', price: 0 USD, openapi: office/office.json, "
        "operations: {room: {operation: getRoom}}}\n"
    )
    connections = organisation / "connections.yaml"
    connections.write_text(entry + connections.read_text())
    pinned = bundle(organisation)
    document.unlink()

    spec = load_bundle(pinned, organisation, builtin=builtin, environ={}).specs["office.room"]

    assert (spec.parameters.keys(), spec.gives) == ({"room"}, {"seats": "any"})
    assert spec.kind == "service_tool"


def test_an_empty_text_of_json_is_no_lost_comma(organisation: Path, builtin: Mapping[str, CapabilitySpec]) -> None:
    room = {**ROOM, "x-samples": {"first name": ""}}
    (organisation / "office.json").write_text(json.dumps({"openapi": "3.0.1", "paths": {"/{room}": {"get": room}}}))
    connections = organisation / "connections.yaml"
    connections.write_text(
        "office: {kind: http, base: 'https://office.example', price: 0 USD, openapi: office.json, operations: {room: "
        f"{{operation: getRoom}}}}}}\n{connections.read_text()}"
    )

    assert "office.room" in load(organisation, builtin=builtin, environ={}).specs
