"""`silicon memory`: what an organisation remembers, and how people see, correct and forget it."""

from __future__ import annotations

from console.cli.options import command

app = command("See what is remembered, correct it, forget it.")
