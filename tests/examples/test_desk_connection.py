"""The example's connection file and its service agree: every declared operation is accepted with its own examples."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from runtime.capabilities.connected import Connected, connect
from runtime.capabilities.connections import Service, read_connection
from runtime.capabilities.http import HttpOperation
from runtime.capabilities.local_service import LocalService
from runtime.settings import HttpSettings, SqlSettings
from tests.fakes.calls import a_call

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_airports"
DECLARED = yaml.safe_load((EXAMPLE / "connections.yaml").read_text())["desk"]


@pytest.fixture
async def connected(tmp_path: Path) -> AsyncIterator[Connected]:
    declared = {"desk": read_connection(DECLARED)}
    made = connect(
        declared, folder=EXAMPLE, home=tmp_path, time_zone="America/New_York", sql=SqlSettings(), http=HttpSettings()
    )
    yield made
    await made.close()
    service = LocalService("desk", Service(command=DECLARED["service"]["command"]), home=tmp_path, folder=EXAMPLE)
    await asyncio.to_thread(service.stop)


async def test_each_operation_is_accepted_with_its_own_examples_and_found_again(connected: Connected) -> None:
    for operation in connected.capabilities:
        assert isinstance(operation, HttpOperation)
        examples = {name: parameter.example for name, parameter in operation.spec.parameters.items()}
        context = a_call()
        done = await operation.call(examples, context)
        found = await operation.lookup(context.key, context)

        assert found is not None
        assert found.output == done.output
