"""What every organisation has, declared: enough to check an organisation, without what carries it out."""

from __future__ import annotations

from collections.abc import Mapping

from agents.cognition import attribute_spec, explain_spec
from agents.cognition.advise import capability as advise_capability
from agents.cognition.heartbeat import specs as heartbeat
from agents.employee.planning import conclude, propose
from agents.employee.report import capability as report_capability
from agents.skills import reading
from governance import notifications
from memory import memory_specs, metric_capability
from runtime.capabilities.builtin import builtin_specs
from runtime.capabilities.port import CapabilitySpec


def all_builtin_specs() -> Mapping[str, CapabilitySpec]:
    """Return the declarations of what every organisation has, without its connections."""
    specs = [
        *builtin_specs(),
        advise_capability.SPEC,
        metric_capability.SPEC,
        memory_specs.SEARCH,
        memory_specs.WRITE,
        memory_specs.OPEN,
        memory_specs.PRODUCTS,
        propose.CHOOSE_SPEC,
        propose.PROPOSE_SPEC,
        conclude.SPEC,
        attribute_spec.SPEC,
        explain_spec.SPEC,
        explain_spec.WORDS_SPEC,
        report_capability.SPEC,
        reading.SPEC,
        notifications.SPEC,
        *heartbeat.SPECS.values(),
    ]
    return {spec.name: spec for spec in specs}
