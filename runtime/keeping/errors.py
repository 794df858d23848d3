"""Errors of keeping.

LedgerError
├── TargetInUse      a restore met a database that is not empty                  (choose an empty one)
├── BackupUnfit      a file cannot be restored: no backup, damaged, too new      (choose another)
└── ExportUnfit      the audit finds the execution's record not as it was written  (restore a backup)
InvalidArguments
├── FileInUse        a file would be written over                                (choose another name)
└── FileNotUsable    a file cannot be read or made                               (mend its path or rights)
BusinessRefusal
├── ArchiveRefused   a file is no export, damaged, of an unknown version, or says what must not be taken in
├── AlreadyHere      the execution, or one of its streams, is in this ledger already
└── HoldRefused      a hold is there already, or none is
"""

from __future__ import annotations

from runtime.errors import BusinessRefusal, InvalidArguments, LedgerError


class TargetInUse(LedgerError):
    """Only an empty database is restored into; nothing was changed."""

    code = "TARGET_IN_USE"


class BackupUnfit(LedgerError):
    """The file is no backup that this program can restore; nothing was changed."""

    code = "BACKUP_UNFIT"


class ExportUnfit(LedgerError):
    """What the ledger holds of the execution is not as it was written; nothing was exported."""

    code = "EXPORT_UNFIT"


class FileInUse(InvalidArguments):
    """There is a file of that name, which is never written over."""

    code = "FILE_IN_USE"


class FileNotUsable(InvalidArguments):
    """A file cannot be read, or not be made where it was asked for."""

    code = "FILE_NOT_USABLE"


class ArchiveRefused(BusinessRefusal):
    """The file is not taken in; the message says what is wrong with it and where. Nothing was changed."""

    code = "ARCHIVE_REFUSED"


class AlreadyHere(BusinessRefusal):
    """The execution, or one of its streams, is in this ledger already, or was pruned from it."""

    code = "ALREADY_HERE"


class HoldRefused(BusinessRefusal):
    """The execution is under a hold already, or under none."""

    code = "HOLD_REFUSED"
