"""The till: a small real service that keeps discounts in its own SQLite file.

The same Idempotency-Key gets the first answer again and changes nothing.
    SERVICE_TOKEN=… SERVICE_DATA=folder python service.py     prints {"address": "http://127.0.0.1:PORT"}
"""

import hmac
import json
import os
import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

IDLE_S = 15 * 60
SCHEMA = """
CREATE TABLE IF NOT EXISTS discounts (product TEXT PRIMARY KEY, percent INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, answer TEXT NOT NULL);
"""


class Till(ThreadingHTTPServer):
    """Listens on this machine only, and ends by itself when nobody needs it."""

    daemon_threads = True
    request_queue_size = 128  # the default of 5 resets calls that come all at once

    def __init__(self, folder: Path, token: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.token = token
        self.lock = threading.Lock()
        self.last_used = time.monotonic()
        self.db = sqlite3.connect(folder / "till.db", check_same_thread=False, isolation_level=None)
        self.db.executescript(SCHEMA)

    def service_actions(self) -> None:
        """End when nobody asked anything for a while."""
        if time.monotonic() - self.last_used > IDLE_S:
            threading.Thread(target=self.shutdown, daemon=True).start()

    def effect(self, key: str) -> dict[str, Any] | None:
        """Return the answer that the call with this key got, or None."""
        row = self.db.execute("SELECT answer FROM effects WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def set_discount(self, key: str, product: str, percent: int) -> dict[str, Any]:
        """Set a discount once for each key; return what it is and what it was."""
        with self.lock, self.db:
            if (known := self.effect(key)) is not None:
                return known
            row = self.db.execute("SELECT percent FROM discounts WHERE product = ?", (product,)).fetchone()
            answer = {"product": product, "percent": percent, "before": row[0] if row else 0}
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT OR REPLACE INTO discounts VALUES (?, ?)", (product, percent))
            self.db.execute("INSERT INTO effects VALUES (?, ?)", (key, json.dumps(answer)))
            self.db.execute("COMMIT")
            return answer


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Till

    def do_GET(self) -> None:
        """Answer whether the till is there, and what became of a call."""
        if not self._may_enter():
            return
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        elif self.path.startswith("/effects/"):
            found = self.server.effect(unquote(self.path.removeprefix("/effects/")))
            self._send(200 if found else 404, found or {"detail": "no such effect"})
        else:
            self._send(404, {"detail": "there is nothing of that name"})

    def do_POST(self) -> None:
        """Set a discount."""
        body = self._body()
        if not self._may_enter():
            return
        key = self.headers.get("Idempotency-Key", "").strip()
        try:
            asked = json.loads(body)
            product, percent = asked["product"], asked["percent"]
            good = isinstance(product, str) and type(percent) is int and 0 <= percent <= 100 and key
        except (ValueError, KeyError, TypeError):
            good = False
        if self.path != "/discounts":
            self._send(404, {"detail": "there is nothing of that name"})
        elif not good:
            self._send(422, {"detail": "needs an Idempotency-Key, a product and a percent from 0 to 100"})
        else:
            self._send(200, self.server.set_discount(key, product, percent))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def _may_enter(self) -> bool:
        self.server.last_used = time.monotonic()
        given = self.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            return True
        self._send(401, {"detail": "the bearer token is missing or wrong"})
        return False

    def _body(self) -> bytes:
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 100_000))

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    till = Till(Path(os.environ["SERVICE_DATA"]), os.environ["SERVICE_TOKEN"])
    print(json.dumps({"address": f"http://127.0.0.1:{till.server_port}"}), flush=True)
    till.serve_forever()
