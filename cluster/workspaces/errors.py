"""What is said of files that cannot go with an order.

SiliconError
├── WorkspaceMismatch  files of earlier steps cannot be put into this slot    (restore the ledger, start anew)
├── WorkspaceConflict  two orders of one employee wrote one file              (look at both, resume)
└── WorkspaceRefused   a file cannot be kept in an employee's workspace       (less, smaller, no links)
"""

from __future__ import annotations

from contracts import ErrorCategory
from runtime.errors import SiliconError


class WorkspaceMismatch(SiliconError):
    """What earlier steps of an order left in its slot cannot be put into another one as it was."""

    code = "WORKSPACE_MISMATCH"


class WorkspaceConflict(SiliconError):
    """Another order of the same employee wrote a file of its workspace meanwhile."""

    code = "WORKSPACE_CONFLICT"
    category = ErrorCategory.BUSINESS


class WorkspaceRefused(SiliconError):
    """A file cannot be kept in an employee's workspace."""

    code = "WORKSPACE_REFUSED"
    category = ErrorCategory.BUSINESS
