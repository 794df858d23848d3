"""Writes a file of ten gigabytes, first in one go, then as a hole."""

tried = []
for write in ("one", "hole"):
    try:
        with open("big", "wb") as file:
            if write == "hole":
                file.truncate(10_000_000_000)
            for _ in range(10_000):
                file.write(b"x" * 1_000_000)
        tried.append("written")
    except OSError as error:
        tried.append(error.strerror)
result = tried
