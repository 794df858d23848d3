"""Uses up the file system's entries."""

import time

for number in range(2_500):
    open(f"file-{number}", "wb").close()
time.sleep(60)
