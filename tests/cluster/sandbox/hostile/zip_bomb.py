"""Unpacks an archive a thousand times as large as it looks."""

import io
import zipfile

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    for number in range(60):
        archive.writestr(f"zeros-{number}", b"\0" * 1_000_000)
for round in range(20):
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(f"unpacked-{round}")
import time

time.sleep(60)
