"""Asks for more rights than it has. The result names what it got."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
got = []
for name, attempt in {
    "namespace": lambda: libc.unshare(0x10000000),
    "root": lambda: libc.setuid(0) if os.getuid() else -1,
    "mount": lambda: libc.mount(b"none", b"/", b"tmpfs", 0, None),
    "hostname": lambda: libc.sethostname(b"x", 1),
    "chroot": lambda: libc.chroot(b"/"),
    "shared memory": lambda: 0 if libc.shmget(12345, 4096, 0o1666) >= 0 and inputs["shared"] else -1,
}.items():
    if attempt() == 0:
        got.append(name)
status = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
if int(status["CapEff"], 16):
    got.append("capabilities")
if status["NoNewPrivs"].strip() != "1":
    got.append("new rights by setuid programs")
result = got
