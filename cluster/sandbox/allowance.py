"""What one program may use: the slot's settings, and what trusted code granted beyond them."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.capabilities.port import Grants
from runtime.settings import SlotSettings

MIB = 1_024 * 1_024


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits of one program. Those of the kernel count for each process, memory and disk for all together."""

    cpu_s: float
    memory_mib: int
    file_mib: int
    disk_mib: int
    open_files: int
    processes: int
    limit_addresses: bool

    @classmethod
    def of(cls, settings: SlotSettings, grants: Grants) -> Allowance:
        """Return the limits of a program with these grants."""
        return cls(
            cpu_s=grants.cpu_s or settings.cpu_s,
            memory_mib=grants.memory_mib or settings.memory_mib,
            file_mib=settings.file_mib,
            disk_mib=settings.disk_mib,
            open_files=grants.open_files or settings.open_files,
            processes=grants.processes or settings.processes,
            limit_addresses=not grants.reserves_memory,
        )

    def rlimits(self, *, others: int) -> dict[str, int]:
        """Return the kernel's limits of each process; `others` threads of the same user run beside the slot."""
        limits = {
            "RLIMIT_CPU": max(1, round(self.cpu_s)),
            "RLIMIT_FSIZE": self.file_mib * MIB,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.processes + others,
            "RLIMIT_CORE": 0,
        }
        if self.limit_addresses:
            limits["RLIMIT_AS"] = self.memory_mib * MIB
        return limits
