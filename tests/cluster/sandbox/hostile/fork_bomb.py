"""Starts processes that stay until no more can be started."""

import os
import time

started = 0
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError:
        break
    started += 1
result = started
