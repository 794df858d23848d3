"""Fills the disk with files that have no name any more."""

import os
import time

held = []
for number in range(100):
    held.append(open("file", "wb"))
    held[-1].write(b"x" * 1_000_000)
    held[-1].flush()
    os.unlink("file")
time.sleep(60)
