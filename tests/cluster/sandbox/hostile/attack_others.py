"""Ends, stops and traces a process that is not its own. The result names what worked."""

import ctypes
import os
import signal

PTRACE_ATTACH = 16
worked = []
victim = inputs["victim"]
try:
    os.kill(victim, 0)
    worked.append("signal")
except OSError:
    pass
if ctypes.CDLL(None).ptrace(PTRACE_ATTACH, victim, None, None) == 0:
    worked.append("trace")
try:
    open(f"/proc/{victim}/mem", "rb").close()
    worked.append("memory")
except OSError:
    pass
signal.signal(signal.SIGTERM, signal.SIG_IGN)
result = worked
