"""The desk of the example: a small real service that takes waivers, notices, incidents and marks on readings.

It stands for the systems an operations department already has. Everything it was asked and everything it did is kept in
its own SQLite file; the same Idempotency-Key gets the first answer again and changes nothing. All of it can
be seen by people on a page, `GET /board`.

    SERVICE_TOKEN=… SERVICE_DATA=folder python service.py     prints {"address": "http://127.0.0.1:PORT"}
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

IDLE_S = 15 * 60
LARGEST_BODY = 1_000_000
AIRPORTS = ("EWR", "JFK", "LGA")

SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, path TEXT NOT NULL, body TEXT NOT NULL, answer TEXT NOT NULL,
                                    at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counts (path TEXT PRIMARY KEY, received INTEGER NOT NULL, done INTEGER NOT NULL,
                                   replayed INTEGER NOT NULL, refused INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS readings (origin TEXT, hour TEXT, field TEXT, bad INTEGER NOT NULL, reason TEXT NOT NULL,
                                     PRIMARY KEY (origin, hour, field));
"""


class Refused(Exception):
    """The request cannot be carried out; `status` says whose fault it is."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


# What each call needs -----------------------------------------------------------------------------------------------


def text(value: Any, *, most: int = 2_000) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise ValueError(f"must be a text of 1 to {most} characters")
    return value


def day(value: Any) -> str:
    return date.fromisoformat(text(value)).isoformat()


def hour(value: Any) -> str:
    return datetime.fromisoformat(text(value)).isoformat()


def airport(value: Any) -> str:
    if value not in AIRPORTS:
        raise ValueError(f"must be one of {', '.join(AIRPORTS)}")
    return str(value)


def airports(value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list of at least one airport")
    return sorted({airport(item) for item in value})


def count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number, 0 or more")
    return value


@dataclass(frozen=True)
class Call:
    """One thing the desk can do: fields it needs, fields it may get, what it makes."""

    makes: str
    needs: dict[str, Callable[[Any], Any]]
    may_have: dict[str, Callable[[Any], Any]]


CALLS = {
    "/waivers": Call(
        makes="waiver",
        needs={"day": day, "airports": airports, "flights": count, "reason": text},
        may_have={"carrier": text},
    ),
    "/notices": Call(
        makes="notice",
        needs={"day": day, "airports": airports, "cause": text},
        may_have={"flights": count, "carrier": text, "message": text},
    ),
    "/incidents": Call(
        makes="incident",
        needs={"day": day, "carrier": text, "summary": text},
        may_have={"airports": airports, "flights": count},
    ),
    "/readings/bad": Call(
        makes="mark",
        needs={"origin": airport, "hour": hour, "field": text, "reason": text},
        may_have={},
    ),
    "/readings/good": Call(
        makes="mark",
        needs={"origin": airport, "hour": hour, "field": text},
        may_have={"reason": text},
    ),
}


def checked(call: Call, body: Any) -> dict[str, Any]:
    """Return the body in its one form; refuse it with every fault at once."""
    if not isinstance(body, dict):
        raise Refused(400, "the body is a JSON object")
    known = {**call.needs, **call.may_have}
    faults = [f"{name} is not known here" for name in body if name not in known]
    faults += [f"{name} is missing" for name in call.needs if body.get(name) is None]
    clean: dict[str, Any] = {}
    for name, check in known.items():
        if body.get(name) is None:
            continue
        try:
            clean[name] = check(body[name])
        except (ValueError, TypeError) as error:
            faults.append(f"{name} {error}")
    if faults:
        raise Refused(422, "; ".join(faults))
    return clean


# What it remembers --------------------------------------------------------------------------------------------------


class Desk:
    """The books of the desk: one connection, one writer at a time."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(SCHEMA)

    def carry_out(self, path: str, key: str, body: Any) -> tuple[dict[str, Any], bool]:
        """Return the answer, and whether it is the first answer given again."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._count(path, "received")
                answer, replayed = self._decide(path, key, body)
                self._count(path, "replayed" if replayed else "done")
            except Refused:
                self._count(path, "refused")
                self._db.execute("COMMIT")
                raise
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            return answer, replayed

    def _decide(self, path: str, key: str, body: Any) -> tuple[dict[str, Any], bool]:
        call = CALLS[path]
        clean = checked(call, body)
        said = json.dumps(clean, sort_keys=True)
        earlier = self._db.execute("SELECT path, body, answer FROM effects WHERE key = ?", (key,)).fetchone()
        if earlier is not None:
            if earlier[:2] != (path, said):
                raise Refused(409, "this Idempotency-Key was used for another request")
            return json.loads(earlier[2]), True
        at = datetime.now(UTC).isoformat(timespec="seconds")
        number = self._db.execute("SELECT count(*) FROM effects").fetchone()[0] + 1
        answer = {"id": f"{call.makes}-{number}", "status": "done", "at": at, **clean}
        self._db.execute("INSERT INTO effects VALUES (?, ?, ?, ?, ?)", (key, path, said, json.dumps(answer), at))
        if path.startswith("/readings/"):
            mark = (clean["origin"], clean["hour"], clean["field"], path == "/readings/bad", clean.get("reason", ""))
            self._db.execute("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?)", mark)
        return answer, False

    def effect(self, key: str) -> dict[str, Any]:
        with self._lock:
            found = self._db.execute("SELECT answer FROM effects WHERE key = ?", (key,)).fetchone()
        if found is None:
            raise Refused(404, "nothing happened under this key")
        return dict(json.loads(found[0]))

    def effects(self) -> list[tuple[str, dict[str, Any]]]:
        """Return everything that was done, oldest first: which call, and what it answered."""
        with self._lock:
            rows = self._db.execute("SELECT path, answer FROM effects ORDER BY rowid").fetchall()
        return [(path, json.loads(answer)) for path, answer in rows]

    def counts(self) -> dict[str, Any]:
        with self._lock:
            rows = self._db.execute("SELECT * FROM counts ORDER BY path").fetchall()
            bad = self._db.execute("SELECT count(*) FROM readings WHERE bad").fetchone()[0]
        names = ("received", "done", "replayed", "refused")
        return {"calls": {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}, "readings_marked_bad": bad}

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _count(self, path: str, column: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO counts VALUES (?, 0, 0, 0, 0)", (path,))
        self._db.execute(f"UPDATE counts SET {column} = {column} + 1 WHERE path = ?", (path,))


# What people see of it -----------------------------------------------------------------------------------------------

SECTIONS = {
    "Waivers": ("/waivers", ("id", "day", "airports", "flights", "carrier", "reason", "at")),
    "Notices": ("/notices", ("id", "day", "airports", "flights", "cause", "message", "at")),
    "Incidents": ("/incidents", ("id", "day", "carrier", "summary", "at")),
    "Readings": ("/readings/", ("id", "status", "origin", "hour", "field", "reason", "at")),
}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b2733; }
h1 { border-bottom: 3px solid #1f5fa8; padding-bottom: .4rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #cfd8e3; vertical-align: top; }
th { background: #eef3f9; }
input, button { font: inherit; padding: .3rem .6rem; }
.none { color: #5b6b7b; }
"""


def board(effects: Iterable[tuple[str, dict[str, Any]]], day: str) -> str:
    """Return the page: `effects` are paths and answers, oldest first; `day` narrows it to one day, empty shows all."""
    shown = [
        (path, answer) for path, answer in effects if str(answer.get("day", answer.get("hour", ""))).startswith(day)
    ]
    parts = [_section(title, path, columns, shown) for title, (path, columns) in SECTIONS.items()]
    what = f"What was done for {escape(day)}" if day else "What was done"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Desk board</title><style>{STYLE}</style></head><body>
<h1>Desk board</h1>
<form action="/board" method="get">
<label>Day <input name="day" value="{escape(day)}" placeholder="2013-02-08"></label> <button>Show</button>
</form>
<p>{what}</p>
{"".join(parts)}</body></html>
"""


def _section(title: str, path: str, columns: tuple[str, ...], shown: list[tuple[str, dict[str, Any]]]) -> str:
    rows = [answer for where, answer in shown if where.startswith(path)]
    if not rows:
        return f'<h2>{title}</h2><p class="none">None.</p>\n'
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in columns)}</tr>" for row in rows)
    return f"<h2>{title} ({len(rows)})</h2><table><tr>{head}</tr>{body}</table>\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return escape(", ".join(map(str, value)))
    return escape(value if isinstance(value, str) else json.dumps(value))


# How it is reached --------------------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Listens on this machine only, and ends by itself when nobody needs it."""

    daemon_threads = True
    request_queue_size = 128  # the default of 5 resets calls that come all at once

    def __init__(self, desk: Desk, token: str, *, port: int, idle_s: float) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.desk = desk
        self.token = token
        self.idle_s = idle_s
        self.last_used = time.monotonic()

    def service_actions(self) -> None:
        if time.monotonic() - self.last_used > self.idle_s:
            self.end()

    def end(self) -> None:
        threading.Thread(target=self.shutdown, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing; the books say what happened."""

    def _answer(self, handle: Callable[[], tuple[int, dict[str, Any] | str, dict[str, str]]]) -> None:
        self.server.last_used = time.monotonic()
        try:
            self.body = self._read_body()
            self._let_in()
            status, answer, headers = handle()
        except Refused as refused:
            status, answer, headers = refused.status, {"detail": refused.detail}, {}
        except sqlite3.Error as error:
            status, answer, headers = 503, {"detail": f"the books cannot be written: {error}"}, {"Retry-After": "1"}
        kind, data = "application/json", json.dumps(answer).encode()
        if isinstance(answer, str):
            kind, data = "text/html; charset=utf-8", answer.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _let_in(self) -> None:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            raise Refused(401, "the bearer token is missing or wrong")

    def _read_body(self) -> bytes:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= LARGEST_BODY:
            self.close_connection = True
            raise Refused(413, f"a body has at most {LARGEST_BODY} bytes")
        return self.rfile.read(length)

    def _get(self) -> tuple[int, dict[str, Any] | str, dict[str, str]]:
        path = urlsplit(self.path).path
        if path == "/health":
            return 200, {"status": "ok"}, {}
        if path == "/board":
            asked = parse_qs(urlsplit(self.path).query).get("day", [""])
            return 200, board(self.server.desk.effects(), asked[0].strip()), {}
        if path == "/counts":
            return 200, self.server.desk.counts(), {}
        if path.startswith("/effects/"):
            return 200, self.server.desk.effect(unquote(path.removeprefix("/effects/"))), {}
        raise Refused(404, "there is nothing of that name")

    def _post(self) -> tuple[int, dict[str, Any], dict[str, str]]:
        path = urlsplit(self.path).path
        if path not in CALLS:
            raise Refused(404, "there is nothing of that name")
        key = self.headers.get("Idempotency-Key", "").strip()
        if not key or len(key) > 255:
            raise Refused(400, "the header Idempotency-Key is required, with at most 255 characters")
        try:
            body = json.loads(self.body)
        except (ValueError, RecursionError):
            raise Refused(400, "the body is not JSON") from None
        answer, replayed = self.server.desk.carry_out(path, key, body)
        return (200, answer, {"Idempotent-Replay": "true"}) if replayed else (201, answer, {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("SERVICE_DATA", "."), help="folder of the SQLite file")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--idle-s", type=float, default=IDLE_S, help="seconds without a request until it ends")
    arguments = parser.parse_args()
    token = os.environ.get("SERVICE_TOKEN", "")
    if not token:
        parser.error("SERVICE_TOKEN is not set; without it nobody could get in.")
    folder = Path(arguments.data)
    folder.mkdir(parents=True, exist_ok=True)
    desk = Desk(folder / "desk.db")
    server = Server(desk, token, port=arguments.port, idle_s=arguments.idle_s)
    signal.signal(signal.SIGTERM, lambda *_: server.end())
    signal.signal(signal.SIGINT, lambda *_: server.end())
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    desk.close()


if __name__ == "__main__":
    main()
