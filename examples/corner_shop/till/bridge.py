"""A bridge in plain httpx: a till that takes part in the cluster over HTTP. It uses nothing of Silicon Org.

SILICON_TOKEN=silicon_… python till/bridge.py http://127.0.0.1:7420 drawer.json
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

DRAWER, FLOAT = threading.Lock(), {"cents": 50_000, "refunds": {}}
SLOW_S = float(os.environ.get("TILL_SLOW_S", "0"))  # how long the drawer takes to open, to try what a crash does


class Till:
    """The device: money, and what was paid back under which key. It is written down before anybody is told."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def state(self) -> dict:
        return json.loads(self.file.read_text()) if self.file.exists() else dict(FLOAT)

    def count(self, arguments: dict, key: str) -> dict:
        state = self.state()
        return {"cents": state["cents"], "refunds": len(state["refunds"])}

    def refund(self, arguments: dict, key: str) -> dict:
        with DRAWER:
            state = self.state()
            if key not in state["refunds"]:  # the same key is the same refund, however often it is asked for
                slip = {"slip": f"R-{len(state['refunds']) + 1}", "cents": arguments["cents"]}
                state["refunds"][key] = slip
                state["cents"] -= arguments["cents"]
                fresh = self.file.with_suffix(".new")
                fresh.write_text(json.dumps(state))
                fresh.replace(self.file)
            time.sleep(SLOW_S)
            return state["refunds"][key]

    def look_up(self, key: str) -> dict | None:
        return self.state()["refunds"].get(key)


class Gone(Exception):
    """The gateway says that the order, or the whole session, is not ours any more."""


class Bridge:
    def __init__(self, address: str, token: str, till: Till) -> None:
        self.http = httpx.Client(
            base_url=f"{address}/api/v1/bridge", headers={"Authorization": f"Bearer {token}"}, timeout=30
        )
        self.carries_out, self.till = {"till.count": till.count, "till.refund": till.refund}, till
        self.holding: set[str] = set()

    def ask(self, path: str, **said) -> dict:
        """Ask until there is an answer: every request may be sent again."""
        while True:
            try:
                answer = self.http.post(path, json=said)
            except httpx.TransportError:
                time.sleep(0.5)
                continue
            if answer.status_code in (429, 502, 503, 504):
                time.sleep(float(answer.headers.get("Retry-After", 1)))
            elif answer.status_code == 409:
                raise Gone(answer.json()["code"])
            else:
                answer.raise_for_status()
                return answer.json() if answer.content else {}

    def serve(self) -> None:
        """Register, then give signs of life and begin the orders that come with the answers."""
        while True:
            entry = self.ask(
                "/nodes", name="counter", slots=2, labels=["till"], capabilities=list(self.carries_out), asks_first=True
            )
            node, session = f"/nodes/{entry['node_id'].partition('/')[2]}", entry["session"]
            print(json.dumps({"event": "registered", "node": entry["node_id"]}), flush=True)
            try:
                while True:
                    beat = {"session": session, "holding": list(self.holding), "wait_s": min(2, entry["beat_s"])}
                    for given in self.ask(f"{node}/beat", **beat)["orders"]:
                        order = given["order"]["order_id"]
                        if order not in self.holding:
                            self.holding.add(order)
                            slot = {name: given["allocation"][name] for name in ("slot_id", "fence")}
                            word = {"session": session, **slot}
                            threading.Thread(target=self.carry_out, args=(node, order, word), daemon=True).start()
            except Gone as gone:
                print(json.dumps({"event": "lost", "code": str(gone)}), flush=True)
                if str(gone) == "BRIDGE_REPLACED":  # another process serves the till now
                    return

    def carry_out(self, node: str, order: str, word: dict) -> None:
        """Do one call of the order after the other, until it ended or is not ours any more."""
        path = f"{node}/orders/{order.partition('/')[2]}"
        try:
            while not (following := self.ask(f"{path}/next", **word, wait_s=5)).get("report"):
                if call := following.get("call"):
                    self.do(path, word, call)
        except Gone as gone:
            print(json.dumps({"event": "gone", "order": order, "code": str(gone)}), flush=True)
        finally:
            self.holding.discard(order)

    def do(self, path: str, word: dict, call: dict) -> None:
        if call["kind"] == "look_up":
            found = self.till.look_up(call["key"])
            said = {"outcome": "not_found"} if found is None else {"outcome": "done", "output": found}
        elif call["ask_first"] and not self.may(path, word, call):
            return  # people decide first, or it must not happen; what comes next is asked as ever
        else:
            output = self.carries_out[call["capability"]](call["arguments"], call["key"])
            slip = base64.b64encode(json.dumps(output).encode()).decode()
            shown = [{"name": "slip.json", "media_type": "application/json", "content_base64": slip}]
            said = {"outcome": "done", "output": output, "files": shown if call["ask_first"] else []}
        self.ask(f"{path}/receipt", **word, call_id=call["call_id"], **said)

    def may(self, path: str, word: dict, call: dict) -> bool:
        """Ask for leave right before the effect, for these very arguments; it holds for a while only."""
        canonical = json.dumps(call["arguments"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        while True:
            asked_at = time.monotonic()
            said = self.ask(f"{path}/intent", **word, call_id=call["call_id"], arguments_sha256=digest)
            print(json.dumps({"event": said["verdict"], "capability": call["capability"]}), flush=True)
            if said["verdict"] == "allowed" and time.monotonic() - asked_at < said["within_s"]:
                return True
            if said["verdict"] in ("card", "refused"):
                return False


if __name__ == "__main__":
    Bridge(sys.argv[1], os.environ["SILICON_TOKEN"], Till(Path(sys.argv[2]))).serve()
