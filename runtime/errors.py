"""Errors as facts for people and programs. One class per thing a caller can act on.

SiliconError
├── SettingsError        a setting is unknown or wrong                               (mend it)
├── OrganisationFaulty   an organisation folder has faults; carries all of them      (mend them)
│   └── NoOrganisation     there is no org.yaml in it                               (name another folder)
├── LedgerError
│   ├── VersionConflict  the stream moved on since it was read                       (fold, decide again)
│   ├── StaleWriter      a newer lease owns the stream                               (stop)
│   ├── BlobDamaged      what is stored under an address no longer matches it        (audit, restore a backup)
│   ├── LedgerUnavailable  the database cannot be reached or written                 (retry with backoff)
│   │   └── LedgerFull     its disk takes nothing more                                (free some space)
│   └── SchemaMismatch   the database was made by another version of the program     (upgrade)
├── NotFound             no execution, card, … of that name                          (look for the right one)
├── ExecutionBusy        another process runs the execution now                      (wait)
├── CapabilityFailed     a capability could not do its work; category says who can help
│   ├── InvalidArguments   what was passed does not fit
│   ├── NetworkFault       a connection failed or a service asked to wait
│   ├── PermissionRefused  a policy, a list or a right of ours forbids it
│   │   └── AccessDenied     the other side does not let us in                         (grant it there, or do it)
│   ├── BusinessRefusal    the other side said no
│   └── CapabilityTimeout  it took longer than its limit
├── NotStorable          a fact is too large or nested too deeply for the ledger     (hand on less)
├── EffectInDoubt        nobody knows whether an effect happened                     (ask a person)
├── ModelRequired        a step needs a model and none is configured                 (set it)
└── BudgetExceeded       a limit was reached                                         (report what there is)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from contracts import ErrorCategory, Json, Problem

MESSAGE_CHARS = 4_000
"""How much of a message travels in reports and events."""


class SiliconError(Exception):
    """An error that a person can read: `code` is stable, `facts` are the values named in the message."""

    code: ClassVar[str] = "SILICON_ERROR"
    category: ClassVar[ErrorCategory] = ErrorCategory.UNKNOWN

    def __init__(self, message: str, **facts: Json) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    def problem(self) -> Problem:
        """Return the error in the form in which it travels in reports and events."""
        message = self.message
        if len(message) > MESSAGE_CHARS:  # what another side said may be of any length
            message = f"{message[:MESSAGE_CHARS]}… ({len(message):,} characters)"
        return Problem(code=self.code, category=self.category, message=message, facts=self.facts)


def surely_not(facts: Mapping[str, Json]) -> bool:
    """Whether the facts of a failure say that its call changed nothing; anything they leave open is in doubt."""
    return facts.get("happened") == "no"


class SettingsError(SiliconError):
    """A setting is unknown or its value cannot be used."""

    code = "SETTINGS_INVALID"


class OrganisationFaulty(SiliconError):
    """An organisation folder has faults; nothing was run."""

    code = "ORGANISATION_FAULTY"


class NoOrganisation(OrganisationFaulty):
    """The folder is no organisation: it has no org.yaml. Usually another folder was meant."""


class LedgerError(SiliconError):
    """The ledger refused or could not do something."""

    code = "LEDGER_ERROR"


class VersionConflict(LedgerError):
    """The stream moved on since it was read: fold it and decide again."""

    code = "VERSION_CONFLICT"


class StaleWriter(LedgerError):
    """A newer lease owns what was to be written: stop, do not retry."""

    code = "STALE_WRITER"


class BlobDamaged(LedgerError):
    """What is stored under an address is no longer what was stored there."""

    code = "BLOB_DAMAGED"


class LedgerUnavailable(LedgerError):
    """The database cannot be reached, read or written."""

    code = "LEDGER_UNAVAILABLE"
    category = ErrorCategory.NETWORK


class LedgerFull(LedgerUnavailable):
    """The disk of the database takes nothing more; what is there can be read."""


class SchemaMismatch(LedgerError):
    """The database was made by another version of the program."""

    code = "SCHEMA_MISMATCH"


class NotFound(SiliconError):
    """Nothing of that name is here."""

    code = "NOT_FOUND"


class ExecutionBusy(SiliconError):
    """Another process runs the execution now."""

    code = "EXECUTION_BUSY"


class CapabilityFailed(SiliconError):
    """A capability could not do its work.

    `happened="no"` among the facts says that the call surely changed nothing: it never left, or the other side clearly
    said no. Without it nobody knows, whatever the class of the error.
    """

    code = "CAPABILITY_FAILED"


class InvalidArguments(CapabilityFailed):
    """What was passed to a capability does not fit."""

    code = "INVALID_ARGUMENTS"
    category = ErrorCategory.INVALID_ARGUMENTS


class NetworkFault(CapabilityFailed):
    """A connection failed, or a service asked to wait (`retry_after_s` in the facts)."""

    code = "NETWORK_FAULT"
    category = ErrorCategory.NETWORK


class PermissionRefused(CapabilityFailed):
    """A policy, a right or an allow-list forbids it."""

    code = "PERMISSION_REFUSED"
    category = ErrorCategory.PERMISSION


class AccessDenied(PermissionRefused):
    """Who was asked does not let us do it. A person can change that without changing anything that is pinned here."""

    code = "ACCESS_DENIED"


class BusinessRefusal(CapabilityFailed):
    """The other side understood and said no, or the result is not acceptable."""

    code = "BUSINESS_REFUSAL"
    category = ErrorCategory.BUSINESS


class CapabilityTimeout(CapabilityFailed):
    """It took longer than its limit."""

    code = "CAPABILITY_TIMEOUT"


class NotStorable(SiliconError):
    """A fact can never be stored as it is; trying again changes nothing."""

    code = "NOT_STORABLE"


class EffectInDoubt(SiliconError):
    """An effect was begun and nobody knows whether it happened."""

    code = "EFFECT_IN_DOUBT"


class ModelRequired(SiliconError):
    """A step needs a model and none is configured."""

    code = "MODEL_REQUIRED"


class BudgetExceeded(SiliconError):
    """A limit was reached; what there is gets reported."""

    code = "BUDGET_EXCEEDED"
