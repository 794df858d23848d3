"""What becomes of an OpenAPI document, and what keeps an operation of it from being used."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.organisation.yaml_source import read_yaml
from contracts import Effect
from runtime.capabilities.connections import OpenApiConnection
from runtime.capabilities.openapi.reading import Completed, completed, connection_of
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.router import arguments_fault, output_fault
from runtime.capabilities.specs import operation_spec

DESK = read_yaml("desk.yaml", (Path(__file__).parent / "desk.yaml").read_text()).value


def connection(**operations: Any) -> OpenApiConnection:
    declared = {"kind": "http", "base": "https://desk.example", "openapi": "desk.yaml", "operations": operations}
    return OpenApiConnection.model_validate(declared)


def spec_of(name: str, document: Any = DESK, **entry: Any) -> CapabilitySpec:
    declared = connection(it={"operation": name, **entry})
    made = completed(declared, document)
    assert not made.in_document, made.in_document
    return operation_spec("desk", connection_of(declared, made.operations), "it")


def read(**operations: Any) -> Completed:
    return completed(connection(**operations), DESK)


def test_every_usable_operation_of_thirty_is_made() -> None:
    ids = [one["operationId"] for item in DESK["paths"].values() for one in item.values() if isinstance(one, dict)]
    assert len(ids) == 30

    made = read(**{f"op_{n}": {"operation": name, "effect": "write"} for n, name in enumerate(ids)})

    made_of = {ids[int(key[3:])] for key in made.operations}
    assert set(ids) - made_of == {"addPhoto", "getReport", "getGate", "getStand", "getLost", "twice"}


def test_a_rule_for_odd_answers_is_taken_over() -> None:
    spec = spec_of("moveFlight", effect="write", plausible=[{"check": "size(gate) < 4", "message": "No gate."}])

    assert [rule.message for rule in spec.plausible] == ["No gate."]


def test_a_declaration_comes_from_the_document() -> None:
    spec = spec_of("moveFlight", effect="write", policy="gates")

    assert {name: parameter.type.value for name, parameter in spec.parameters.items()} == {
        "flight-id": "string", "X-Trace": "string", "gate": "string", "reason": "string", "revision": "integer",
        "body_flight-id": "string",
    }  # fmt: skip
    assert [name for name, each in spec.parameters.items() if each.required] == ["flight-id", "gate", "revision"]
    assert spec.parameters["reason"].choices == ("weather", "crew", "other", None)
    assert spec.parameters["gate"].example == "B22"
    assert (spec.effect, spec.policy) == (Effect.WRITE, "gates")


def test_a_model_sees_the_schema_of_the_document() -> None:
    schema = spec_of("moveFlight", effect="write").schema
    assert schema is not None
    properties: Any = schema["properties"]

    assert properties["gate"] == {"type": "string", "pattern": "^[A-Z][0-9]+$", "examples": ["B22"]}
    assert properties["revision"] == {"type": "integer", "exclusiveMinimum": 0}
    assert properties["X-Trace"] == {"type": ["string", "null"]}  # a model may say that it leaves it out
    assert schema["required"] == ["flight-id", "gate", "revision"]


def test_an_answer_promises_what_each_good_answer_has() -> None:
    flight = spec_of("getFlight")

    assert flight.description == "One flight, with where it is now."
    assert flight.gives.keys() == {"id", "legs"}
    assert spec_of("moveFlight", effect="write").gives == {}  # 202 comes with nothing
    assert spec_of("getFlight", gives={"gate": "string"}).gives == {"gate": "string"}


def test_a_schema_that_holds_itself_ends() -> None:
    assert spec_of("addNotes", effect="write").gives == {"text": "string"}


def without(document: Any, name: str) -> Any:
    """Return the document with a change to the schema `name`, or to the words of its first operation."""
    changed = copy.deepcopy(document)
    if name == "words":
        changed["paths"]["/flights/{flight-id}"]["get"]["description"] = "Something else."
    else:
        changed["components"]["schemas"][name]["description"] = "Something else."
    return changed


@pytest.mark.parametrize(("changed", "same"), [("words", False), ("Flight", False), ("Named", True)])
def test_an_approval_covers_the_operation_as_the_document_has_it(changed: str, same: bool) -> None:
    before, after = spec_of("getFlight"), spec_of("getFlight", without(DESK, changed))

    assert (before.sha256 == after.sha256) is same


def test_the_document_says_nothing_about_effects() -> None:
    made = read(move={"operation": "moveFlight"}, drop={"operation": "dropFlight"}, flight={"operation": "getFlight"})

    assert [(fault.place, fault.what) for fault in made.in_entry] == [
        (("operations", "move"), "An operation with PUT needs `effect`: read, idempotent, write or irreversible."),
        (("operations", "drop"), "An operation with DELETE needs `effect`: read, idempotent, write or irreversible."),
    ]
    assert made.operations.keys() == {"flight"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("addPhoto", ["The body is required and cannot be sent: it is multipart/form-data, and not JSON."]),
        ("getReport", ["The answer is text/csv, and only JSON can be read."]),
        ("getGate", ["The path /gates/{gate} has a place for `gate`, and no parameter fills it."]),
        ("getStand", ["The parameter `stand` is said to be in the path, and /stands has no place for it."]),
        ("twice", ["The operationId `twice` stands here more than once."]),
        (
            "getLost",
            [
                "`#/components/parameters/Nowhere` is not in the document.",
                "`other.yaml#/x` points outside of this document, which is not followed.",
            ],
        ),
    ],
)
def test_what_cannot_be_used_is_told(name: str, told: list[str]) -> None:
    made = read(it={"operation": name, "effect": "write"})

    assert [fault.what for fault in made.in_document] == told
    assert not made.operations


@pytest.mark.parametrize("document", [None, [], {}, {"swagger": "2.0"}, {"openapi": "2.0"}, {"openapi": "3.1.0"}])
def test_what_is_no_document_of_this_kind_makes_nothing(document: Any) -> None:
    made = completed(connection(it={"operation": "getFlight"}), document)

    assert (len(made.in_document) + len(made.in_entry), made.operations) == (1, {})


def test_references_inside_references_end() -> None:
    wide = {f"L{n}": {"type": "object", "properties": {k: {"$ref": f"#/components/schemas/L{n + 1}"} for k in "abcd"}}
            for n in range(60)}  # fmt: skip
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/L0"}}}}
    path = {"post": {"operationId": "x", "requestBody": body, "responses": {}}}
    document = {"openapi": "3.1.0", "paths": {"/x": path}, "components": {"schemas": wide}}

    assert spec_of("x", document, effect="write").parameters.keys() == set("abcd")


JUNK: list[Any] = [
    None, True, 0, 1.5, "", "array", [], [None], [{}], ["a", "a"], {}, {"$ref": "#/"}, {"$ref": 3}, {"type": "null"},
    {"$ref": "#/components/schemas/Note"}, {"type": ["string", "null"]}, {"enum": [{"a": 1}, None]}, {"required": [1]},
    {"properties": [1]}, {"properties": {"": {}, "%%": {}}}, {"allOf": [{"type": "string"}]}, {"type": "nothing"},
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in inside for place in _places(inner, (*path, key)))]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_places(DESK)[1:]), st.sampled_from(JUNK))
def test_nothing_in_a_document_is_more_than_a_fault(place: tuple[Any, ...], junk: Any) -> None:
    document = copy.deepcopy(DESK)
    around = document
    for key in place[:-1]:
        around = around[key]
    around[place[-1]] = copy.deepcopy(junk)
    ids = ("listFlights", "getFlight", "moveFlight", "dropFlight", "addNotes", "addBag")
    declared = connection(**{f"op_{n}": {"operation": name, "effect": "write"} for n, name in enumerate(ids)})

    made = completed(declared, document)

    for name in made.operations:
        spec = operation_spec("desk", connection_of(declared, made.operations), name)
        assert len(spec.sha256) == 64
        assert arguments_fault(spec, {"none": 1}) is not None
        output_fault(spec.gives, {})
