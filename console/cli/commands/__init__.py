"""One file for each command; `console.cli.main.COMMANDS` says which there are."""
