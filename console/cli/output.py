"""Where a command writes: the answer to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from console.cli.form import to_data
from runtime.texts import Say

PIPED_WIDTH = 120


class Output:
    """One command's two streams, for people or as JSON."""

    def __init__(self, say: Say, language: str, *, as_json: bool) -> None:
        self.say = say
        self.language = language
        self.as_json = as_json
        self.answers = _console(sys.stdout)
        self.notes = _console(sys.stderr)

    def show(self, *parts: RenderableType) -> None:
        """Write the answer for people; nothing with `--json`. Plain lines are never broken: they can be pasted."""
        if not self.as_json:
            write(self.answers, *parts)

    def note(self, *parts: RenderableType) -> None:
        """Write something beside the answer to standard error."""
        write(self.notes, *parts)

    def data(self, value: Any) -> None:
        """Write the answer as JSON; nothing without `--json`."""
        if self.as_json:
            sys.stdout.write(json.dumps(to_data(value), ensure_ascii=False, indent=2) + "\n")
            sys.stdout.flush()

    def data_line(self, value: Any) -> None:
        """Write one JSON value on one line, for answers that go on."""
        if self.as_json:
            sys.stdout.write(json.dumps(to_data(value), ensure_ascii=False) + "\n")
            sys.stdout.flush()


def write(console: Console, *parts: RenderableType) -> None:
    """Write parts below each other; text lines keep their length, everything else is fitted into the width."""
    for part in parts:
        if isinstance(part, str | Text):
            console.print(part, soft_wrap=True)
        elif console.is_terminal:
            console.print(part)
        else:
            with console.capture() as captured:
                console.print(part)
            lines = captured.get().splitlines()
            console.print("\n".join(line.rstrip() for line in lines), soft_wrap=True)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)
