"""How values look on a terminal: quiet, aligned, icons always with a word."""
