"""A bridge in plain httpx: a till that takes part in the cluster over HTTP. It uses nothing of Silicon Org.

Usage: BRIDGE_TOKEN=silicon_… python till/bridge.py http://127.0.0.1:8700 drawer.json (README.md: how to make a token)
"""

import base64
import hashlib
import json
import os
import sys
import threading
import time
from pathlib import Path

import httpx


class Till:
    """The device: money, and what was paid back under which key. It is written down before anybody is told."""

    def __init__(self, file: Path) -> None:
        self.file, self.lock = file, threading.Lock()

    def state(self) -> dict:
        return json.loads(self.file.read_text()) if self.file.exists() else {"cents": 50_000, "refunds": {}}

    def count(self, arguments: dict, key: str) -> dict:
        return {"cents": (state := self.state())["cents"], "refunds": len(state["refunds"])}

    def refund(self, arguments: dict, key: str) -> dict:
        with self.lock:
            state = self.state()
            if key not in state["refunds"]:  # the same key is the same refund, however often it is asked for
                state["refunds"][key] = {"slip": f"R-{len(state['refunds']) + 1}", "cents": arguments["cents"]}
                state["cents"] -= arguments["cents"]
                fresh = self.file.with_suffix(".new")
                fresh.write_text(json.dumps(state))
                fresh.replace(self.file)
            time.sleep(float(os.environ.get("TILL_SLOW_S", "0")))  # the drawer is open; to try what a crash does
            return state["refunds"][key]


class Refused(Exception):  # with status 409: the order, or the whole session, is not ours any more
    def __init__(self, answer: httpx.Response) -> None:
        said = answer.json() if "json" in answer.headers.get("Content-Type", "") else {}
        self.status, self.code = answer.status_code, said.get("code")
        super().__init__(said.get("detail") or f"It answers {self.status}, and no Silicon Org does: another program?")


def tell(event: str, **facts) -> None:
    print(json.dumps({"event": event, **facts}, ensure_ascii=False), flush=True)


class Bridge:
    def __init__(self, address: str, token: str, till: Till) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=f"{address.rstrip('/')}/api/v1/bridge", headers=headers, timeout=30)
        self.till, self.holding = till, set()
        self.carries_out = {"till.count": till.count, "till.refund": till.refund}

    def ask(self, path: str, **said) -> dict:
        """Ask until there is an answer: every request may be sent again."""
        waits = False
        while True:
            try:
                answer = self.http.post(path, json=said)
                if answer.is_success:
                    return answer.json() if answer.content else {}
                why, after_s = Refused(answer), float(answer.headers.get("Retry-After", 1))
                if why.status not in (429, 502, 503, 504):
                    raise why
            except httpx.TransportError as error:
                why, after_s = f"{self.http.base_url} cannot be reached: {error}. Is `silicon up` there?", 0.5
            if not waits:
                tell("waiting", why=str(why))
            waits = True
            time.sleep(after_s)

    def serve(self) -> None:
        """Register, then give signs of life and begin the orders that come with the answers."""
        while True:
            declared = {"slots": 2, "labels": ["till"], "capabilities": list(self.carries_out), "asks_first": True}
            entry = self.ask("/nodes", name="counter", **declared)
            node, session = f"/nodes/{entry['node_id'].partition('/')[2]}", entry["session"]
            tell("registered", node=entry["node_id"])
            try:
                while True:
                    beat = {"session": session, "holding": list(self.holding), "wait_s": min(2, entry["beat_s"])}
                    for given in self.ask(f"{node}/beat", **beat)["orders"]:
                        self.holding.add(given["order"]["order_id"])
                        threading.Thread(target=self.carry_out, args=(node, session, given), daemon=True).start()
            except Refused as no:
                if no.status != 409:
                    raise
                tell("lost", code=no.code, why=str(no))
                if no.code == "BRIDGE_REPLACED":  # another process serves the till now
                    return

    def carry_out(self, node: str, session: str, given: dict) -> None:
        """Do one call of the order after the other, until it ended or is not ours any more."""
        order, slot = given["order"]["order_id"], given["allocation"]
        word = {"session": session, "slot_id": slot["slot_id"], "fence": slot["fence"]}
        path = f"{node}/orders/{order.partition('/')[2]}"
        try:
            while not (following := self.ask(f"{path}/next", **word, wait_s=5)).get("report"):
                if call := following.get("call"):
                    self.do(path, word, call)
        except Refused as no:
            tell("gone", order=order, code=no.code, why=str(no))
        finally:
            self.holding.discard(order)

    def do(self, path: str, word: dict, call: dict) -> None:
        if call["kind"] == "look_up":
            found = self.till.state()["refunds"].get(call["key"])
            said = {"outcome": "not_found"} if found is None else {"outcome": "done", "output": found}
        elif call["ask_first"] and not self.may(path, word, call):
            return  # people decide first, or it must not happen; what comes next is asked as ever
        else:
            output = self.carries_out[call["capability"]](call["arguments"], call["key"])
            slip = base64.b64encode(json.dumps(output).encode()).decode()
            shown = {"name": "slip.json", "media_type": "application/json", "content_base64": slip}
            said = {"outcome": "done", "output": output, "files": [shown] if call["ask_first"] else []}
        self.ask(f"{path}/receipt", **word, call_id=call["call_id"], **said)

    def may(self, path: str, word: dict, call: dict) -> bool:
        """Ask for leave right before the effect, for these very arguments; it holds for a while only."""
        canonical = json.dumps(call["arguments"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        while True:
            asked_at = time.monotonic()
            said = self.ask(f"{path}/intent", **word, call_id=call["call_id"], arguments_sha256=digest)
            tell(said["verdict"], capability=call["capability"])
            allowed = said["verdict"] == "allowed" and time.monotonic() - asked_at < said["within_s"]
            if allowed or said["verdict"] in ("card", "refused"):
                return allowed


if __name__ == "__main__":
    token, given = os.environ.get("BRIDGE_TOKEN", "").strip(), sys.argv[1:]
    if len(given) != 2 or not given[0].startswith(("http://", "https://")) or not token or not token.isascii():
        print(__doc__.splitlines()[2], file=sys.stderr)
        sys.exit(2)
    try:
        Bridge(given[0], token, Till(Path(given[1]))).serve()
    except (Refused, httpx.InvalidURL) as error:
        sys.exit(f"The till cannot take part at {given[0]}. {error}")
    except KeyboardInterrupt:
        sys.exit(130)
