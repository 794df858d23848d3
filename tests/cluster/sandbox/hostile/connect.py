"""Talks to whoever listens. The result names whom it reached, or how it was refused."""

import socket

reached = {}


def attempt(name, family, kind, address):
    try:
        with socket.socket(family, kind) as made:
            made.settimeout(1)
            made.connect(address)
            made.send(b"hello")
            reached[name] = "sent" if kind == socket.SOCK_DGRAM else "reached"
    except TimeoutError:
        reached[name] = "timeout"
    except OSError as error:
        reached[name] = error.strerror


attempt("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", inputs["tcp"]))
attempt("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", inputs["udp"]))
attempt("unix", socket.AF_UNIX, socket.SOCK_STREAM, inputs["unix"])
attempt("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + inputs["abstract"])
if inputs.get("metadata", True):
    attempt("metadata", socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))
result = reached
