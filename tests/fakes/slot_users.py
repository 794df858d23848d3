"""Users of slots for this process of tests alone, so that suites run side by side on one machine.

A slot's user counts its processes, and what has it is ended with the slot: with the users of another process, each
would end the other's programs.
"""

from __future__ import annotations

import os

BROWSER, RLIMITS, LANDLOCK, BUBBLEWRAP = (4 * (os.getpid() % 100_000) + each for each in range(4))
