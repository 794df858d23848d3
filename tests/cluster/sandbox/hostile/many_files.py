"""Fills the disk with files, each of which is small enough."""

for number in range(10_000):
    with open(f"file-{number}", "wb") as file:
        file.write(b"x" * 1_000_000)
