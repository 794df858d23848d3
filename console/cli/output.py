"""Where a command writes: the answer to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from console.cli.form import to_data
from console.cli.unwritten import AnswerNotWritten
from console.cli.visible import shown, visible, visible_json
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
            with _answering():
                write(self.answers, *parts)

    def note(self, *parts: RenderableType) -> None:
        """Write something beside the answer to standard error."""
        write(self.notes, *parts)

    def data(self, value: Any) -> None:
        """Write the answer as JSON; nothing without `--json`."""
        if self.as_json:
            with _answering():
                write_json(value, indent=2)

    def data_line(self, value: Any) -> None:
        """Write one JSON value on one line, for answers that go on."""
        if self.as_json:
            with _answering():
                write_json(value)


class CleanConsole(Console):
    """The one way to a terminal: every text is made visible before it is laid out, whatever it stands in.

    A text is one line. What it holds of line breaks, terminal escapes and bidi controls came from data, and data must
    not be able to hide or rewrite what a person reads.
    """

    def __init__(self, *, file: TextIO, width: int | None = None, **options: Any) -> None:
        super().__init__(file=file, width=width, highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, texts cleaned first."""
        return super().render(cleaned(renderable), options)


def cleaned(renderable: RenderableType) -> RenderableType:
    """Return a text with every hidden character shown, its styles in place; anything else as it is."""
    if isinstance(renderable, str):
        return visible(renderable)
    if not isinstance(renderable, Text) or visible(renderable.plain) == renderable.plain:
        return renderable
    letters = [shown(letter) for letter in renderable.plain]
    at = list(accumulate(map(len, letters), initial=0))
    clean = renderable.blank_copy("".join(letters))
    clean.spans = [Span(at[span.start], at[min(span.end, len(letters))], span.style) for span in renderable.spans]
    return clean


def write(console: Console, *parts: RenderableType) -> None:
    """Write parts below each other; text lines keep their length, everything else is fitted into the width."""
    for part in parts:
        if isinstance(part, str | Text):
            console.print(cleaned(part), soft_wrap=True)
        elif console.is_terminal:
            console.print(part)
        else:
            with console.capture() as captured:
                console.print(part)
            for line in captured.get().removesuffix("\n").split("\n"):
                console.print(line.rstrip(), soft_wrap=True)


def write_json(value: Any, *, indent: int | None = None) -> None:
    """Write a value to standard output as exact JSON that no terminal obeys."""
    sys.stdout.write(visible_json(json.dumps(to_data(value), ensure_ascii=False, indent=indent)) + "\n")
    sys.stdout.flush()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise AnswerNotWritten(error.errno, error.strerror) from error


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    return CleanConsole(file=stream, width=width)
