"""A slot that is a folder, and a program in it that ends as a test says."""

from __future__ import annotations

from pathlib import Path

from runtime.capabilities.port import NO_GRANTS, Grants, SandboxResult


class SlotFolder:
    """The port `Sandbox` for tests of what a capability makes of how a program ended."""

    def __init__(self, folder: Path, ended: SandboxResult | None = None) -> None:
        self.folder = folder
        self._ended = ended or SandboxResult(exit_code=0, stdout="", stderr="", killed_for=None, seconds=0.1)
        self.stdin = b""
        self.grants = NO_GRANTS

    async def run_python(
        self, script: str, *, stdin: bytes = b"", wall_s: float | None = None, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        self.stdin, self.grants = stdin, grants
        return self._ended
