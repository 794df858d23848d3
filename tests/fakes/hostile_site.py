"""A site of ordinary and of hostile pages, served on this machine in threads of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGES = {
    "/": """<title>Desk 服务台</title><h1>Waivers 免除</h1><form method="post" action="/save">
        <input aria-label="Reason" name="reason"><button>Save</button></form>
        <input aria-label="Locked" disabled><button style="position:absolute;top:300px;left:0">Under</button>
        <div style="position:absolute;top:290px;left:0;width:300px;height:60px;background:#ddd">cover</div>
        <button>Twin</button><button>Twin</button>""",
    "/next": "<title>Next</title><h1>Next page</h1>",
    "/tall": "<title>Tall</title><div style='height:3000px;background:linear-gradient(red,blue)'>tall</div>",
    "/alert": "<title>?</title><script>alert('one');document.title=confirm('sure?')?'yes':'no'</script><h1>after</h1>",
    "/pop-up": "<title>Pop</title><script>window.open('/next')</script><h1>opener</h1>",
    "/spin": "<title>Spin</title><h1>spins</h1><script>setTimeout(() => { while (true) {} }, 50)</script>",
    "/sends": """<title>?</title><script>fetch('/steal', {method: 'POST', body: 'x'})
        .then(() => document.title = 'sent', () => document.title = 'held')</script><h1>sends</h1>""",
    "/outside": """<title>Outside</title><h1>outside</h1><img src="http://169.254.169.254/latest">
        <iframe src="https://elsewhere.example/"></iframe>""",
    "/cookie": """<title>?</title><h1>c</h1>
        <script>document.title = document.cookie || 'none'; document.cookie = 'a=1'</script>""",
    "/trap": "<title>Trap</title><button onclick='while (true) {}'>Go</button>",
    "/changes": "<title>Changes</title><h1 id=a>before</h1><button onclick=\"a.textContent='after'\">Go</button>",
}


class Site(ThreadingHTTPServer):
    """Listens until it is closed; `posted` holds what was sent to it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: list[tuple[str, bytes]] = []
        self.asked_for_ever, self.closing = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that is killed hangs up on us."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.posted.append((self.path, body))
        self._send(b"<title>Saved</title><h1>Saved</h1>")

    def do_GET(self) -> None:
        match self.path:
            case "/never":
                self.server.asked_for_ever.set()
                self.server.closing.wait(60)
            case "/download":
                self._send(b"x", "application/octet-stream", **{"Content-Disposition": "attachment; filename=a.bin"})
            case "/loop":
                self._send(b"", status=302, Location="/loop")
            case "/big":
                self._send(b"<p>" + b"word " * 10_000_000)
            case "/broken":
                self._send(b"<title>Broken</title>", status=500)
            case path if path in PAGES:
                self._send(PAGES[path].encode())
            case _:
                self._send(b"<title>Not here</title>", status=404)

    def _send(self, body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def a_site() -> Iterator[Site]:
    """Serve the pages."""
    site = Site()
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site.shutdown()
        site.server_close()
        thread.join(10)
