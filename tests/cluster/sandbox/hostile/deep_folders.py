"""Nests folders deeper than any path can name, with files at the bottom."""

import os

for _ in range(100):
    os.mkdir("d" * 60)
    os.chdir("d" * 60)
open("bottom", "w").close()
result = "nested"
