"""The service of the crash tests, in a process of its own: it counts what it receives and forgives no double.

    python desk.py      prints its port, then serves until its standard input closes

POST /begin begins a new log, POST /mark {"life": …} says who calls from now on, GET /log gives each call as
{"key", "path", "life"}. POST /kill {"pid", "path"} has it kill that process the next time that path is called, between
the effect and the answer. GET /await/PATH answers once PATH was called.
POST /hold {"path"} keeps calls of that path waiting until another path is held. POST /open {"account", "balance"} opens
an account, until /begin.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

ACCOUNTS = {"first": 70, "second": 30}


class Desk(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Condition()
        self.calls: list[dict[str, Any]] = []
        self.effects: dict[str, dict[str, Any]] = {}
        self.life = 0
        self.kill: dict[str, Any] = {}
        self.held = ""
        self.looked_up = False
        self.accounts = dict(ACCOUNTS)

    def note(self, key: str, path: str) -> None:
        with self.lock:
            self.calls.append({"key": key, "path": path, "life": self.life})
            self.lock.notify_all()

    def await_call(self, path: str) -> None:
        """Return once that path was called; `/effects`: once anything was looked up."""

        def was_called() -> bool:
            return (path == "/effects" and self.looked_up) or any(call["path"] == path for call in self.calls)

        with self.lock:
            self.lock.wait_for(was_called, timeout=60)

    def control(self, path: str, asked: Any) -> bool:
        """Do what the test asks, if it is that; return whether it was."""
        match path:
            case "/begin":
                self.calls, self.life, self.kill, self.held, self.looked_up = [], 0, {}, "", False
                self.accounts = dict(ACCOUNTS)
            case "/mark":
                self.life, self.kill = asked["life"], {}
            case "/kill":
                self.kill = asked
            case "/open":
                self.accounts[asked["account"]] = asked["balance"]
            case "/hold":
                with self.lock:
                    self.held = asked["path"]
                    self.lock.notify_all()
            case _:
                return False
        return True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Desk

    def do_GET(self) -> None:
        name = unquote(self.path.rpartition("/")[2])
        if self.path == "/log":
            return self._send(200, self.server.calls)
        if self.path.startswith("/await/"):
            self.server.await_call(self.path.removeprefix("/await"))
            return self._send(200, {})
        if self.path.startswith("/effects/"):
            found = self.server.effects.get(name)
            with self.server.lock:
                self.server.looked_up = True
                self.server.lock.notify_all()
            return self._send(200 if found else 404, found or {"detail": "no such effect"})
        self.server.note(self.headers.get("Idempotency-Key", ""), self.path)
        if name in self.server.accounts:
            return self._send(200, {"balance": self.server.accounts[name]})
        return self._send(404, {"detail": "there is no such account"})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        if self.server.control(self.path, asked):
            return self._send(200, {})
        key = self.headers.get("Idempotency-Key", "")
        self.server.note(key, self.path)
        with self.server.lock:
            self.server.lock.wait_for(lambda: self.server.held != self.path, timeout=60)
        answer = {"sent": True} if self.path == "/letters" else {"paid": asked["amount"]}
        self.server.effects[key] = answer
        if self.server.kill.get("path") == self.path:
            os.kill(self.server.kill["pid"], signal.SIGKILL)
            self.close_connection = True
            return None
        return self._send(200, answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def _send(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    desk = Desk()
    threading.Thread(target=desk.serve_forever, daemon=True).start()
    print(desk.server_port, flush=True)
    sys.stdin.read()
