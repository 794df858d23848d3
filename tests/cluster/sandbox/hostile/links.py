"""Leaves links and other traps for whoever reads the folder afterwards."""

import os

os.symlink("/etc/passwd", "passwd")
os.symlink("/etc", "etc")
os.symlink(".", "loop")
os.mkfifo("pipe")
os.mkdir("closed")
open("closed/file", "w").close()
os.chmod("closed", 0)
try:
    os.link("/etc/passwd", "hard")
except OSError:
    pass
os.rename(os.getcwd() + "/loop", "loop2")
try:
    os.rename(os.getcwd(), os.getcwd() + "-moved")
    result = "moved"
except OSError:
    result = "not moved"
