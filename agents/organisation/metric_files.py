"""What `metrics/NAME.yaml` may say beside the contract: short forms, and a Python file in the place of a formula."""

from __future__ import annotations

from typing import Any

from agents.organisation.declared import read_as, seconds
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.files import FileRefused, fault_of, text_of_file
from agents.organisation.yaml_source import YamlSource
from contracts import MetricDefinition, Name
from contracts.metrics import OF_FORMULAS, formula_faults

FOLDER = "metrics"


def read_metric(draft: Draft, name: Name, source: YamlSource) -> None:
    """Put the metric of a file into the draft, or note every fault in `source`."""
    value = _written_out(draft, name, source)
    faults = formula_faults(value) if isinstance(value, dict) else []
    metric = read_as(MetricDefinition, source, _with_a_formula(value) if faults else value)
    source.faults += [source.fault((), what) for what in faults]
    if metric is None or faults:
        return
    if metric.name != name:
        source.faults.append(source.fault(("name",), f"The metric of this file must be called {name}."))
    draft.metrics[name] = Read(metric, source)


def python_files_unread(draft: Draft) -> list[Fault]:
    """Return a fault for each Python file beside the metrics that none of them names."""
    read = {metric.value.python.file for metric in draft.metrics.values() if metric.value.python is not None}
    if any(fault.file.startswith(f"{FOLDER}/") for fault in draft.faults):
        return []  # the metric that names it may be one that could not be read
    beside = [name for name in draft.files.names() if name.startswith(f"{FOLDER}/") and name.endswith(".py")]
    return [
        Fault(name, 0, "No metric names this file.", "Write `python: …` in the metric, or remove it.")
        for name in beside
        if name not in read
    ]


def _written_out(draft: Draft, name: Name, source: YamlSource) -> Any:
    if not isinstance(source.value, dict):
        return source.value
    value = {"name": name, **source.value}
    if "freshness" in value:
        value["freshness_s"] = _seconds_or_as_is(value.pop("freshness"))
    if isinstance(value.get("python"), str):
        value["python"] = _function(draft, value["python"], source)
    return value


def _with_a_formula(value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with some formula, so that what is wrong with the others is found too."""
    others = {name: inner for name, inner in value.items() if name not in OF_FORMULAS}
    return {**others, "source": "x", "over": "x", "time": "x", "value": "x"}


def _function(draft: Draft, file: str, source: YamlSource) -> Any:
    path = f"{FOLDER}/{file}"
    if path not in draft.files.names():
        source.faults.append(source.fault(("python",), f"There is no file {path}."))
        return {"file": path, "text": ""}
    try:
        return {"file": path, "text": text_of_file(draft.files, path)}
    except FileRefused as refused:
        source.faults.append(fault_of(path, refused))
        return {"file": path, "text": ""}


def _seconds_or_as_is(value: Any) -> Any:
    try:
        return seconds(value)
    except ValueError:
        return value
