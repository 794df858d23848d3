"""The gate of a small organisation."""

import pytest

from governance.approvals import ApprovalGate, ApprovalGateway
from tests.fakes.clock import HandClock
from tests.governance.approvals.gates import gate_with


@pytest.fixture
def gate(gateway: ApprovalGateway, clock: HandClock) -> ApprovalGate:
    return gate_with(gateway, clock)
