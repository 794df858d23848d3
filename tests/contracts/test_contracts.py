"""Every contract comes back as it went, and refuses what it does not know."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import contracts
from contracts import Contract, UnreadableVersion
from contracts.docstrings import field_texts
from contracts.schemas import ALL, json_schema
from tests.contracts.strategies import instances

EVERY = sorted(
    {each for each in vars(contracts).values() if inspect.isclass(each) and issubclass(each, Contract)} - {Contract},
    key=lambda each: each.__name__,
)
some = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), database=None)
each_contract = pytest.mark.parametrize("contract", EVERY, ids=lambda each: each.__name__)


@each_contract
@some
@given(data=st.data())
def test_it_comes_back_as_it_went(contract: type[Contract], data: st.DataObject) -> None:
    value = data.draw(instances(contract))

    assert contract.model_validate_json(json.dumps(value.to_json())) == value
    assert contract.read(value.to_json()) == value


@each_contract
@some
@given(data=st.data())
def test_an_unknown_field_is_refused(contract: type[Contract], data: st.DataObject) -> None:
    stored = data.draw(instances(contract)).to_json() | {"no_such_field": 1}

    with pytest.raises(ValidationError, match="no_such_field"):
        contract.model_validate(stored)
    with pytest.raises(ValidationError, match="no_such_field"):
        contract.read(stored)


@each_contract
@some
@given(data=st.data())
def test_a_newer_minor_version_is_read_but_not_taken_in_from_outside(
    contract: type[Contract], data: st.DataObject
) -> None:
    value = data.draw(instances(contract))
    stored = value.to_json() | {"no_such_field": 1, "schema_version": "1.9"}

    assert contract.read(stored) == value.model_copy(update={"schema_version": "1.9"})
    with pytest.raises(ValidationError, match="no_such_field"):
        contract.model_validate(stored)


@each_contract
@some
@given(data=st.data())
def test_a_newer_major_version_is_refused(contract: type[Contract], data: st.DataObject) -> None:
    stored = data.draw(instances(contract)).to_json() | {"schema_version": "2.0"}

    with pytest.raises(ValidationError, match=r"schema version 2\.0"):
        contract.read(stored)
    with pytest.raises(ValidationError, match=r"schema version 2\.0"):
        contract.model_validate(stored)


@pytest.mark.parametrize("version", ["1", "one", "", "1.0.0", "v1.0"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises((ValidationError, UnreadableVersion)):
        contracts.Usage.read({"schema_version": version})


@pytest.mark.parametrize("contract", ALL, ids=lambda each: each.__name__)
@some
@given(data=st.data())
def test_its_json_schema_takes_every_instance_and_refuses_unknown_fields(
    contract: type[Contract], data: st.DataObject
) -> None:
    from jsonschema import Draft202012Validator, FormatChecker

    schema = json_schema(contract)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    stored = data.draw(instances(contract)).to_json()

    assert [error.message for error in validator.iter_errors(stored)] == []
    assert not validator.is_valid(stored | {"no_such_field": 1})


@each_contract
def test_nothing_in_it_can_be_changed(contract: type[Contract]) -> None:
    name = next(iter(contract.model_fields))

    assert contract.model_config["frozen"]
    assert contract.model_config["extra"] == "forbid"
    with pytest.raises(ValidationError, match="frozen"):
        setattr(contract.model_construct(), name, 1)


def test_every_published_contract_explains_itself() -> None:
    silent = [
        f"{contract.__name__}.{name}"
        for contract in ALL
        for name in contract.model_fields
        if not field_texts(contract).get(name) and name not in ("by", "use", "skill", "arguments")
    ]

    assert [contract.__name__ for contract in ALL if not contract.__doc__] == []
    assert silent == []


def test_published_names_are_distinct_and_versioned() -> None:
    ids = [json_schema(contract)["$id"] for contract in ALL]

    assert len(set(ids)) == len(ALL)
    assert all(id_.endswith(f":{contract.VERSION}") for id_, contract in zip(ids, ALL, strict=True))


def test_what_is_written_says_the_version_that_its_contract_has() -> None:
    written = {contract.__name__: contract.model_fields["schema_version"].default for contract in ALL}

    assert written == {contract.__name__: contract.VERSION for contract in ALL}


def test_a_version_that_grew_holds_what_grew_inside_it() -> None:
    """Who reads a newer minor version passes over what it does not know, so the outermost contract has to say it."""
    report = contracts.StatusReport.read(
        {**contracts.StatusReport(order_id=contracts.OrderId.new(), state=contracts.OrderState.DONE).to_json(),
         "schema_version": "1.9", "later": 1}
    )  # fmt: skip

    assert report.state is contracts.OrderState.DONE


def test_a_value_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValidationError):
        contracts.Usage(seconds=float("nan"))


def test_money_is_exact() -> None:
    total: Any = contracts.Money.parse("0.10 USD")

    assert contracts.Money.model_validate_json(total.model_dump_json()) == total
    assert json.loads(total.model_dump_json())["amount"] == "0.10"


@each_contract
def test_its_json_schema_says_what_stands_below_each_field(contract: type[Contract]) -> None:
    schema = json_schema(contract)
    properties = schema.get("$defs", {}).get(contract.__name__, schema)["properties"]
    told = {info.alias or name: field_texts(contract).get(name) for name, info in contract.model_fields.items()}

    assert {name: shown.get("description") for name, shown in properties.items()} == told
