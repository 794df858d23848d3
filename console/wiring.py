"""Puts the parts of one organisation together; the only place that knows every room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.cognition import reason_capability
from agents.cognition.advise import AdviseCapability
from agents.cognition.advise import capability as advise_capability
from agents.cognition.reason_capability import AttributeCapability
from agents.cognition.sense import Sensors
from agents.employee.report import capability as report_capability
from agents.employee.report.capability import ReportCapability
from agents.organisation import Organisation, read_rules
from agents.workforce import InlineWorkforce
from cluster import Bridge, ControlPlane, Gateway, RlimitsDriver, this_node
from console.texts import say_in
from contracts import Json
from governance.approvals import ApprovalGate, ApprovalGateway
from governance.policies import Policy, PolicyBook
from memory import metric_capability
from memory.metric_capability import MetricCapability
from memory.metrics import MetricRegistry
from runtime.blackboard import LedgerBlackboard
from runtime.capabilities.builtin import builtin_capabilities, builtin_specs
from runtime.capabilities.connected import Connected, connect
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.capabilities.secrets import Secrets
from runtime.clock import Clock
from runtime.engine import Engine
from runtime.engine.ports import Delegate
from runtime.errors import NotFound
from runtime.executor import ExecutionRun
from runtime.ledger.port import Lease, Store
from runtime.settings.load import Settings
from runtime.telemetry import redact


def all_builtin_specs() -> Mapping[str, CapabilitySpec]:
    """Return the declarations of what every organisation has, without its connections."""
    specs = [
        *builtin_specs(),
        advise_capability.SPEC,
        metric_capability.SPEC,
        reason_capability.SPEC,
        report_capability.SPEC,
    ]
    return {spec.name: spec for spec in specs}


@dataclass
class Wired:
    """One organisation at work. Nothing is opened before it is used; `close` closes what was."""

    organisation: Organisation
    store: Store
    settings: Settings
    clock: Clock
    control_plane: ControlPlane

    @cached_property
    def connected(self) -> Connected:
        """Its databases and services."""
        return connect(
            self.organisation.connections,
            folder=self.organisation.folder,
            home=self.settings.home,
            time_zone=self.organisation.time_zone,
            sql=self.settings.sql,
            http=self.settings.http,
            secrets=Secrets(),
            views=self.organisation.views,
        )

    @cached_property
    def metrics(self) -> MetricRegistry:
        """Its metrics, read through its connections."""
        return MetricRegistry(self.organisation.metrics.values(), self._query, time_zone=self.organisation.time_zone)

    @cached_property
    def sensors(self) -> Sensors:
        """What lets its sensors look."""
        return Sensors(self.store, self.metrics, self.settings.sensor, self.organisation.name)

    @cached_property
    def approvals(self) -> ApprovalGateway:
        """Its decision cards."""
        return ApprovalGateway(self.store, self.clock, self.organisation.people, self.organisation.name)

    @cached_property
    def registry(self) -> Registry:
        """Everything its employees can use."""
        return Registry(
            [
                *builtin_capabilities(self.settings.slot),
                *self.connected.capabilities,
                AttributeCapability(say_in),
                AdviseCapability(
                    self._specs, self.organisation.approvals, self.approvals, lambda: PolicyBook(self._rules())
                ),
                ReportCapability(say_in),
                MetricCapability(self.metrics),
            ]
        )

    @cached_property
    def workforce(self) -> InlineWorkforce:
        """Its employees."""
        return InlineWorkforce(
            self.organisation,
            store=self.store,
            specs=self.registry.specs(),
            engine_for=lambda run, delegate: self._engine(run, delegate, ()),
            cluster_for=self._cluster,
            clock=self.clock,
        )

    async def close(self) -> None:
        """Close databases and connections; a local service goes on."""
        if "connected" in self.__dict__:
            await self.connected.close()

    def _engine(self, run: ExecutionRun, delegate: Delegate | None, slot: Sequence[Lease]) -> Engine:
        gate = ApprovalGate(
            self.approvals,
            PolicyBook(self._rules()),
            self.organisation.approvals,
            say_in=say_in,
            clock=self.clock,
        )
        board = LedgerBlackboard(
            self.store.ledger,
            run.execution_id,
            organisation=self.organisation.name,
            settings=self.settings.blackboard,
            trace_id=run.trace_id,
        )
        return Engine(
            store=self.store,
            router=Router(self.registry, clock=self.clock, timeout_s=self.settings.engine.step_timeout_s),
            gate=gate,
            clock=self.clock,
            settings=self.settings.engine,
            blackboard=board,
            delegate=delegate,
            leases=(*run.leases, *slot),
            cancelled=run.cancelled,
            redact=redact,
            reopen=run.reopened,
            grace_s=self.settings.executor.cancel_grace_s,
        )

    def _rules(self) -> Sequence[Policy]:
        """Return the rules that were pinned, and those of the folder now: a rule added meanwhile counts at once.

        A rule can only forbid, so that the two together are never looser than what was pinned. Rules that cannot be
        read now stop the work before any effect (OrganisationFaulty); without the folder the pinned ones hold.
        """
        try:
            now = read_rules(self.organisation.folder)
        except NotFound:
            now = ()
        return (*self.organisation.rules, *(rule for rule in now if rule not in self.organisation.rules))

    def _cluster(self, run: ExecutionRun) -> Gateway:
        bridge = Bridge(
            self.store,
            self.control_plane,
            lambda leases: self._engine(run, None, leases),
            driver_for(self.settings),
            home=self.settings.home,
            clock=self.clock,
            settings=self.settings.slot,
        )
        return Gateway(self.control_plane, bridge)

    def _specs(self) -> Mapping[str, CapabilitySpec]:
        return self.registry.specs()  # asked for when a card is made: the registry holds whoever asks

    async def _query(
        self, connection: str, sql: str, parameters: dict[str, Json], known_at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        table = await self.connected.sql[connection].query(sql, parameters, known_at)
        return [row for row in table.rows if isinstance(row, dict)]


def control_plane_of(store: Store, settings: Settings) -> ControlPlane:
    """Return the control plane of this machine: one node, whose slots all processes of one home folder share."""
    driver = driver_for(settings)(0)
    node = this_node(settings.home, settings.slot, labels=(), cannot_enforce=driver.cannot_enforce)
    return ControlPlane(store.leases, [node], settings.slot)


def driver_for(settings: Settings) -> Callable[[int], RlimitsDriver]:
    """Return what gives the sandbox driver of a slot."""
    return lambda index: RlimitsDriver.for_slot(settings.slot, index)


def folder_of(named: Path) -> Path:
    """Return the folder that a person named, absolute, so that it means the same from everywhere."""
    return named.expanduser().resolve()
