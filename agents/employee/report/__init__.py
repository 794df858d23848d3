"""Reports whose every number leads to the step, query and data it came from."""

from agents.employee.report.capability import SPEC, ReportCapability

__all__ = ["SPEC", "ReportCapability"]
