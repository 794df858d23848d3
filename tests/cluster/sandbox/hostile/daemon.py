"""Leaves a process behind that has its own session, no environment and no parent."""

import os

until_exec, held = os.pipe()  # the other program closes it by starting
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in {*range(64)} - {held}:
            try:
                os.close(fd)
            except OSError:
                continue
        os.execve("/bin/sleep", ["sleep", inputs["seconds"]], {})
    os._exit(0)
os.close(held)
os.wait()
os.read(until_exec, 1)
result = "left"
