"""Writes to standard error for ever, and ignores every polite request to stop."""

import signal
import sys

signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    sys.stderr.write("x" * 100_000)
