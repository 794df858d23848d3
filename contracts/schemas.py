"""JSON Schema of every contract, for partners that do not speak Python."""

from __future__ import annotations

from typing import Any

from contracts.base import Budget, Contract, Money, Usage
from contracts.bridges import (
    BridgeAsk,
    BridgeBeat,
    BridgeEntry,
    BridgeIntent,
    BridgeLeave,
    BridgeNext,
    BridgeNode,
    BridgeOrders,
    BridgeReceipt,
    BridgeTaken,
    BridgeVerdict,
    BridgeWord,
)
from contracts.cards import Action, Answer, Decision, DecisionCard, Edit, Notification, Question
from contracts.delegations import Delegation
from contracts.events import Event
from contracts.evidence import EvidencePackage
from contracts.evolution import AgentRelease, Certificate, Patch
from contracts.expectations import Expectation
from contracts.insight import DataProduct, Finding, Signal
from contracts.memories import MemoryRecord
from contracts.metrics import MetricDefinition
from contracts.order import Extension, StatusReport, TaskOrder
from contracts.plan import PlanDefinition
from contracts.problems import Problem
from contracts.request import ExecutionRequest
from contracts.slots import SlotAllocation

ALL: tuple[type[Contract], ...] = (
    ExecutionRequest, PlanDefinition, TaskOrder, StatusReport, EvidencePackage, SlotAllocation,
    Question, Answer, Notification, DecisionCard, Decision, Edit, Delegation, Action,
    Expectation, Patch, AgentRelease, Certificate,
    Signal, Finding, DataProduct, MetricDefinition, MemoryRecord, Event, Problem, Money, Usage, Budget, Extension,
    BridgeNode, BridgeEntry, BridgeBeat, BridgeOrders, BridgeAsk, BridgeNext, BridgeIntent, BridgeVerdict,
    BridgeReceipt, BridgeTaken, BridgeWord, BridgeLeave,
)  # fmt: skip
"""Every contract that is published, most important first."""


def json_schema(contract: type[Contract]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `contract`, with its version in `$id`."""
    schema = contract.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:silicon-org:contract:{contract.__name__}:{contract.VERSION}",
        **schema,
    }
