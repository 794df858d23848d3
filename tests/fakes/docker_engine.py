"""A Docker engine that speaks the few calls of a slot over a real unix socket.

A container is a plain process here: what the engine itself would limit is only recorded, in `configs`. It was written
after the documentation of the Engine API 1.43; the driver has never been run against a real engine.
"""

from __future__ import annotations

import json
import os
import signal
import socketserver
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, urlsplit


class _Box:
    """One container."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.connection: Any = None
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def start(self) -> None:
        environment = dict(pair.split("=", 1) for pair in self.config["Env"])
        self.process = subprocess.Popen(
            [sys.executable, *self.config["Cmd"]], env=environment, cwd=self.config["WorkingDir"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._feed, daemon=True).start()
        pumps = [threading.Thread(target=self._frame, args=(number,), daemon=True) for number in (1, 2)]
        for pump in pumps:
            pump.start()
        threading.Thread(target=self._close, args=(pumps,), daemon=True).start()

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def state(self) -> dict[str, Any]:
        assert self.process is not None
        code = self.process.wait()
        return {"ExitCode": 128 - code if code < 0 else code, "OOMKilled": False}

    def _feed(self) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):
            while data := self.connection.recv(65_536):
                self.process.stdin.write(data)
                self.process.stdin.flush()
        with suppress(OSError):
            self.process.stdin.close()

    def _frame(self, number: int) -> None:
        assert self.process is not None
        pipe = self.process.stdout if number == 1 else self.process.stderr
        assert pipe is not None
        with suppress(OSError), pipe:
            while data := os.read(pipe.fileno(), 65_536):
                with self.lock:
                    self.connection.sendall(struct.pack(">BxxxI", number, len(data)) + data)

    def _close(self, pumps: list[threading.Thread]) -> None:
        assert self.process is not None
        self.process.wait()
        self.kill()  # a container ends with its first process
        for pump in pumps:
            pump.join()
        self.ended.set()


class DockerEngine(socketserver.ThreadingUnixStreamServer):
    """The engine; a context manager. `configs` holds what was asked of every container."""

    daemon_threads = True

    def __init__(self, path: Path, *, images: tuple[str, ...] = ("python:3.11",)) -> None:
        self.images = images
        self.boxes: dict[str, _Box] = {}
        self.configs: list[dict[str, Any]] = []
        super().__init__(str(path), _Handler)

    def __enter__(self) -> DockerEngine:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        for box in self.boxes.values():
            box.kill()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DockerEngine

    def address_string(self) -> str:
        return "unix"

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match method, url.path.split("/")[2:] if url.path.startswith("/v") else [url.path.lstrip("/")]:
            case "GET", ["_ping"]:
                self._send(200, "OK")
            case "GET", ["images", *name, "json"]:
                known = "/".join(name) in self.server.images
                self._send(200 if known else 404, {"Id": "sha256:1"} if known else {"message": "No such image"})
            case "GET", ["containers", "json"]:
                wanted = json.loads(parse_qs(url.query).get("filters", ["{}"])[0]).get("label", [])
                self._send(200, [{"Id": ident} for ident, box in self.server.boxes.items() if _has(box, wanted)])
            case "POST", ["containers", "create"]:
                box = _Box(json.loads(body))
                ident = token_hex(16)
                self.server.boxes[ident] = box
                self.server.configs.append(box.config)
                self._send(201, {"Id": ident, "Warnings": []})
            case _, ["containers", ident, *call] if ident in self.server.boxes:
                self._call(method, ident, self.server.boxes[ident], *call)
            case _:
                self._send(404, {"message": f"No such container or call: {method} {self.path}"})

    def _call(self, method: str, ident: str, box: _Box, name: str = "") -> None:
        match method, name:
            case "POST", "attach":
                self.wfile.write(
                    b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.multiplexed-stream\r\n"
                    b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
                )
                box.connection = self.connection
                self.close_connection = True
                box.ended.wait()
            case "POST", "start":
                box.start()
                self._send(204)
            case "POST", "kill":
                running = box.process is not None and box.process.poll() is None
                box.kill()
                self._send(204 if running else 409, None if running else {"message": "is not running"})
            case "POST", "wait":
                self._send(200, {"StatusCode": box.state()["ExitCode"]})
            case "GET", "json":
                self._send(200, {"Id": ident, "State": box.state()})
            case "DELETE", "":
                box.kill()
                box.ended.set()
                del self.server.boxes[ident]
                self._send(204)

    def _send(self, status: int, answer: Any = None) -> None:
        text = b"" if answer is None else answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(answer, str) else "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _has(box: _Box, labels: list[str]) -> bool:
    return all(box.config["Labels"].get(name) == value for name, value in (label.split("=", 1) for label in labels))
