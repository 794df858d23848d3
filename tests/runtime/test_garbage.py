from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def said(*lines: str) -> str:
    code = "\n".join(("import gc", "from runtime.garbage import look_rarely, pass_over_the_start", *lines))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_process_that_looks_rarely_passes_over_what_its_start_made() -> None:
    assert said(
        "look_rarely()", "pass_over_the_start()", "print(gc.get_freeze_count() > 0, gc.get_count()[0] < 100)"
    ) == ("True True")


def test_a_process_that_looks_as_often_as_python_does_goes_on_to_look_at_everything() -> None:
    assert said("pass_over_the_start()", "print(gc.get_freeze_count())") == "0"
