from __future__ import annotations

import struct
from itertools import product

import pytest

from cluster.sandbox.inside import seccomp

ALLOW, EACCES, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x5000D, 0x50001, 0x50026, 0x80000000
MACHINES = {"x86_64": (0xC000003E, 41, 56, 101), "aarch64": (0xC00000B7, 198, 220, 117)}


def judge(filters: bytes, arch: int, number: int, first: int = 0) -> int:
    """Return what the kernel would: a machine for the few instructions that the filter uses."""
    data = struct.pack("=IIQQ", number, arch, 0, first)
    code = list(struct.iter_unpack("=HBBI", filters))
    at = value = 0
    while True:
        kind, if_true, if_false, operand = code[at]
        if kind == 0x20:
            value = struct.unpack_from("=I", data, operand)[0]
        elif kind == 0x06:
            return operand
        else:
            yes = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[kind]
            at += if_true if yes else if_false
        at += 1


@pytest.mark.parametrize(("machine", "families"), [*product(MACHINES, [(), (2,), (2, 10, 16), (2, 10, 16, 1)])])
def test_only_the_named_kinds_of_sockets_can_be_made(machine: str, families: tuple[int, ...]) -> None:
    arch, socket, _, _ = MACHINES[machine]
    filters = seccomp.program(machine, families)

    assert {family for family in range(50) if judge(filters, arch, socket, family) == ALLOW} == set(families)
    assert judge(filters, arch, socket, 40) == EACCES


@pytest.mark.parametrize("machine", MACHINES)
def test_usual_calls_pass_and_dangerous_ones_do_not(machine: str) -> None:
    arch, _, clone, ptrace = MACHINES[machine]
    filters = seccomp.program(machine, ())

    assert judge(filters, arch, 0 if machine == "x86_64" else 63) == ALLOW
    assert judge(filters, arch, ptrace) == EPERM
    assert judge(filters, arch, clone, 17) == ALLOW
    assert judge(filters, arch, clone, 0x10000000 | 17) == EPERM
    assert judge(filters, arch, 435) == ENOSYS


def test_calls_of_another_architecture_end_the_program() -> None:
    filters = seccomp.program("x86_64", ())

    assert judge(filters, 0x40000003, 102) == KILL
    assert judge(filters, 0xC000003E, 0x40000000 | 41) == ENOSYS


def test_a_machine_whose_numbers_are_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="riscv64"):
        seccomp.program("riscv64", ())
