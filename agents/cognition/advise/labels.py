"""Labels of confidence as they are shown: what earlier promises came to may lower them, and every card says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from agents.cognition.evaluate.labels import Standing
from contracts import Confidence, Json, Option

Labels: TypeAlias = Mapping[Confidence, Standing]
"""Labels that were ever corrected → how they stand."""

CORRECTED = "confidence "
"""What the name of a fact on a card begins with that tells of a corrected label, or of one that is used again."""


def shown_label(option: Option, labels: Labels) -> Option:
    """Return the option with the label that is shown: never a stronger one than the statistics earned."""
    standing = labels.get(option.confidence) if option.confidence is not None else None
    if standing is None or not standing.corrected:
        return option
    return option.model_copy(update={"confidence": standing.to})


def facts_of_labels(earned: Iterable[Option], labels: Labels) -> dict[str, Json]:
    """Return what a card says of the labels on it that are, or were, corrected."""
    used = dict.fromkeys(option.confidence for option in earned if option.confidence is not None)
    return {f"{CORRECTED}{label.value}": _fact(labels[label]) for label in used if label in labels}


def _fact(standing: Standing) -> dict[str, Json]:
    """Return `high → medium` with what it rests on; a label that is used again tells that too."""
    arrow = f"{standing.label.value} → {standing.to.value}" if standing.corrected else f"{standing.label.value} ✓"
    why = f"{standing.kept} of {standing.n} promises kept, {standing.promised:.0%} promised, {standing.since:%Y-%m-%d}"
    return {
        "value": arrow, "source": why, "label": standing.label.value, "shown": standing.to.value,
        "kept": standing.kept, "n": standing.n, "promised": standing.promised, "since": standing.since.isoformat(),
    }  # fmt: skip
