"""What can go wrong while a prompt is put together or data is looked into.

SiliconError
├── ContextError
│   └── RepresentationTwice  one datum stands in a prompt in two forms       (a fault of the program: show it once)
└── InvalidArguments
    └── AnchorUnknown        a model names a place that the data does not have  (name one that outline or search gave)
"""

from __future__ import annotations

from runtime.errors import InvalidArguments, SiliconError


class ContextError(SiliconError):
    """No prompt can be made of what there is."""

    code = "CONTEXT_ERROR"


class RepresentationTwice(ContextError):
    """One datum stands in a prompt in two forms, or whole twice."""

    code = "REPRESENTATION_TWICE"


class AnchorUnknown(InvalidArguments):
    """The data has no such place."""

    code = "ANCHOR_UNKNOWN"
