"""Takes memory until there is none."""

taken = []
while True:
    taken.append(bytearray(b"x" * 8_000_000))
