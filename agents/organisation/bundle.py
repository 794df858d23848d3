"""The organisation as one archive: the same folder always gives the same bytes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from agents.organisation.files import FolderFiles

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The earliest time an archive can hold; files' own times would make each archive different."""


def bundle(folder: Path) -> bytes:
    """Return everything that people wrote in the folder, without data, hidden files and bytecode, as a zip archive.

    The bytes depend on names and contents only, so their sha256 names the organisation as it stood.
    Raises FileRefused for a file that may not be read.
    """
    files = FolderFiles(folder)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in files.names():
            entry = zipfile.ZipInfo(name, date_time=_FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files.read(name))
    return out.getvalue()
