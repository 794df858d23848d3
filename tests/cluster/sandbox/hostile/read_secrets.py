"""Reads what it must not know. The result names what could be read."""

import os
from pathlib import Path

wanted = ["/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/tmp/..", *inputs["paths"]]
wanted += [f"/proc/{pid}/environ" for pid in (1, os.getppid(), inputs["parent"])]
found = []
for path in wanted:
    try:
        seen = os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes()
    except OSError:
        continue
    if path.startswith("/proc") and b"SECRET_OF_THE_PARENT" not in seen:
        continue  # another process of that number, in a world of its own
    if os.path.isdir(path) and set(seen) <= set(inputs["harmless"]):
        continue
    found.append(path)
result = found
