"""Leaves something outside its folder. The result names what could be written."""

import os
import sysconfig

written = []
for path in [*inputs["paths"], sysconfig.get_path("purelib") + "/hostile.pth"]:
    try:
        with open(path, "w") as file:
            file.write("left behind")
    except OSError:
        continue
    written.append(path)
result = written
