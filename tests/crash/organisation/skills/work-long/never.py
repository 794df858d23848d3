"""Says that it runs, then never ends: deaf to requests, with a child in a session of its own."""

import signal
import subprocess
import time
from pathlib import Path

signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "300"], start_new_session=True)
Path("runs").touch()
time.sleep(300)
result = {}
