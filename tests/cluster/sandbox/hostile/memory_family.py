"""Takes memory in many children, each of which stays under the limit of a process."""

import os
import time

for _ in range(8):
    if os.fork() == 0:
        taken = bytearray(150_000_000)
        taken[::4096] = b"x" * len(taken[::4096])
        time.sleep(1)
        os._exit(0)
endings = [os.WTERMSIG(os.wait()[1]) for _ in range(8)]
result = endings
