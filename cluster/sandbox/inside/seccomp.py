"""A seccomp filter: which kernel calls the program and its children may not make.

Refused are sockets of other families than named (a Landlock rule knows neither UDP nor unix sockets), new namespaces,
and calls that reach other processes, keyrings, mounts or the kernel itself; io_uring, because it opens sockets unseen.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_CLONE_NEWUSER = 0x10000000
_CLONE3 = 435

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "pidfd_getfd": (438, 438),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),  # they outlive their makers
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
}  # fmt: skip
"""Call → its number on x86_64 and on aarch64."""
_SOCKET, _CLONE = (41, 198), (56, 220)

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16


def available() -> bool:
    """Whether the filter can be built and loaded on this machine."""
    return os.uname().machine in _ARCHITECTURES and os.path.exists("/proc/sys/kernel/seccomp")  # noqa: PTH110


def program(machine: str, families: Iterable[int]) -> bytes:
    """Return the filter as the kernel takes it; `families` are those of which sockets may be made.

    Raises:
        ValueError: the numbers of this kind of machine are not known here.
    """
    column = list(_ARCHITECTURES).index(machine)
    code = [
        _step(_LOAD, _ARCH), _step(_EQUAL, _ARCHITECTURES[machine], 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]  # fmt: skip
    if machine == "x86_64":
        code += [_step(_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)]
    for numbers in _CALLS.values():
        code += [_step(_EQUAL, numbers[column], 0, 1), _refuse(errno.EPERM)]
    # the flags of clone3 lie in memory, out of a filter's sight; the C library then falls back on clone
    code += [_step(_EQUAL, _CLONE3, 0, 1), _refuse(errno.ENOSYS)]
    code += [
        _step(_EQUAL, _CLONE[column], 0, 4), _step(_LOAD, _FIRST_ARGUMENT), _step(_ANY_BIT, _CLONE_NEWUSER, 0, 1),
        _refuse(errno.EPERM), _step(_RETURN, _ALLOW),
    ]  # fmt: skip
    allowed = list(families)
    code += [_step(_EQUAL, _SOCKET[column], 0, len(allowed) + 2), _step(_LOAD, _FIRST_ARGUMENT)]
    code += [_step(_EQUAL, family, len(allowed) - place, 0) for place, family in enumerate(allowed)]
    code += [_refuse(errno.EACCES), _step(_RETURN, _ALLOW)]
    return b"".join(code)


def load(families: Iterable[int]) -> None:
    """Put the filter on this thread and all it starts; `no_new_privs` has to be set before.

    Raises:
        OSError: the kernel refused.
    """
    filters = program(os.uname().machine, families)
    kept = ctypes.create_string_buffer(filters, len(filters))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(filters) // 8, ctypes.addressof(kept)))
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_SECCOMP, _MODE_FILTER, head, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp filter: {os.strerror(code)}")


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(code: int) -> bytes:
    return _step(_RETURN, _REFUSE | code)
