"""What the tools of `bench/context_process.py` give: tables, nested objects, documents and logs of a forwarder.

Each value is grown entry by entry until its text has the characters asked for, with facts strewn over it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

CITIES = ("Rotterdam", "宁波", "Hamburg", "深圳", "Felixstowe", "上海", "Antwerpen", "青岛", "Gdańsk", "厦门")
PEOPLE = ("王丽华", "Anna Kowalska", "陈志强", "Miguel Ortega", "刘洋", "Ingrid Sæther", "赵敏", "Tom Whitfield")
GOODS = ("bearings", "轴承", "solar inverters", "逆变器", "ceramic tiles", "瓷砖", "infusion pumps", "输液泵")
STATES = ("booked", "loaded", "in transit", "held by customs", "released", "delivered", "已放行", "待查验")
SENTENCES = (
    "The carrier moved the cut-off by two days and did not tell the agent in port.",
    "The invoice names the old consignee, while the bill of lading has the new one.",
    "Demurrage runs from the fifth day; the terminal counts the day of discharge.",
    "承运人把截关时间提前了两天,没有通知港口代理。",
    "发票上是旧的收货人,提单上已经改成新的收货人。",
    "The certificate of origin was issued late, so the preferential rate is in question.",
    "集装箱封条号与装箱单不一致,海关要求重新过磅。",
    "Two pallets were reloaded into another container after the stow plan had been closed.",
    "仓库反馈温度记录缺失四小时,需要供应商补充说明。",
    "The broker asks whether the licence covers spare parts as well as the machines.",
)
TASKS = (
    "Find out which shipments of the week are late, and by how much.",
    "核对发票与提单,列出不一致的地方。",
    "Read what the terminal's log says about the containers that were held.",
    "Look up who decided on the route of the delayed lots, and why.",
    "汇总各供应商的索赔金额和状态。",
    "Check the temperature records of the refrigerated lots against the contract.",
    "Compare the agreed freight rates with what was charged.",
    "找出仍未放行的集装箱以及原因。",
    "Collect what customs asked for, and what was answered.",
    "Settle which lots can go on by rail, and which have to wait.",
)


def _row(random: Random) -> dict[str, Any]:
    return {
        "shipment": f"SH-{random.randrange(10**6):06}", "container": f"MSKU{random.randrange(10**7):07}",
        "from": random.choice(CITIES), "to": random.choice(CITIES), "goods": random.choice(GOODS),
        "weight_kg": round(random.uniform(80, 26_000), 1), "state": random.choice(STATES),
        "eta": f"2026-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}", "delay_h": random.randrange(0, 240),
        "cost": {"currency": random.choice(("EUR", "CNY", "USD")), "amount": round(random.uniform(20, 90_000), 2)},
    }  # fmt: skip


def _document(random: Random) -> dict[str, Any]:
    return {
        "id": f"{random.getrandbits(128):032x}", "title": f"{random.choice(CITIES)} / {random.choice(GOODS)}",
        "author": random.choice(PEOPLE), "language": random.choice(("en", "zh")),
        "text": " ".join(random.choices(SENTENCES, k=random.randrange(2, 9))),
    }  # fmt: skip


def _line(random: Random) -> str:
    level = random.choices(("DEBUG", "INFO", "WARN", "ERROR"), (5, 10, 2, 1))[0]
    clock = f"{random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}.{random.randrange(1000):03}"
    return f"2026-11-{random.randrange(1, 31):02}T{clock}Z {level} gate={random.randrange(1, 40)} {_event(random)}"


def _event(random: Random) -> str:
    return f"unit=TCLU{random.randrange(10**7):07} req={random.getrandbits(48):012x} {random.choice(STATES)}"


def _node(random: Random) -> dict[str, Any]:
    return {
        "party": random.choice(PEOPLE), "city": random.choice(CITIES),
        "contract": {"number": f"C/{random.randrange(10**5):05}", "valid": random.random() < 0.8, "terms": {
            "incoterm": random.choice(("FOB", "CIF", "DAP", "EXW")), "days": random.choice((14, 30, 60)),
            "rates": [round(random.uniform(0.1, 9), 3) for _ in range(random.randrange(2, 9))]}},
        "contact": {"mail": f"desk{random.randrange(999)}@example.com", "ticket": f"{random.getrandbits(64):016x}"},
    }  # fmt: skip


def _table(random: Random, entries: Sequence[dict[str, Any]], facts: Sequence[str]) -> Any:
    for fact in facts:
        random.choice(entries).setdefault("notes", []).append(fact)
    return {"rows": list(entries), "count": len(entries), "page": 1}


def _documents(random: Random, entries: Sequence[dict[str, Any]], facts: Sequence[str]) -> Any:
    for fact in facts:
        random.choice(entries)["text"] += f" {fact}"
    return {"documents": list(entries)}


def _log(random: Random, entries: Sequence[str], facts: Sequence[str]) -> Any:
    lines = list(entries)
    for fact in facts:
        lines.insert(random.randrange(len(lines) + 1), f"2026-11-30T06:00:00.000Z WARN operator: {fact}")
    return {"file": f"gate-{random.randrange(99):02}.log", "log": "\n".join(lines)}


def _tree(random: Random, entries: Sequence[dict[str, Any]], facts: Sequence[str]) -> Any:
    tree: dict[str, Any] = {"case": f"K-{random.randrange(10**6):06}", "parties": {}, "remarks": list(facts)}
    for number, entry in enumerate(entries):
        tree["parties"][f"p{number}"] = entry
    return tree


_MADE: Mapping[str, tuple[Callable[[Random], Any], Callable[[Random, Sequence[Any], Sequence[str]], Any]]] = {
    "shipments_table": (_row, _table),
    "documents_search": (_document, _documents),
    "terminal_log": (_line, _log),
    "case_file": (_node, _tree),
}
KINDS = tuple(_MADE)


def value_of(kind: str, size: int, random: Random, facts: Sequence[str]) -> Any:
    """Return what a tool of that kind gives, of about `size` characters, the facts in it word by word."""
    entry, whole = _MADE[kind]
    entries, left = [], size - sum(len(fact) + 4 for fact in facts) - 60
    while not entries or left > 0:
        entries.append(entry(random))
        left -= len(json.dumps(entries[-1], ensure_ascii=False)) + 1
    return whole(random, entries, facts)


def _seal(random: Random, number: int) -> tuple[str, str, str]:
    unit = f"HLXU{number:03}{random.randrange(10**4):04}"
    return unit, f"The seal of {unit} is {random.getrandbits(40):010X}.", "id"


def _amount(random: Random, number: int) -> tuple[str, str, str]:
    claim = f"CL-{number:03}-{random.randrange(10**4):04}"
    return claim, f"索赔 {claim} 的最终金额是 {random.randrange(10**4, 10**7) / 100:.2f} 元。", "number"


def _name(random: Random, number: int) -> tuple[str, str, str]:
    lot = f"LOT{number:03}{random.choice('ABCDEFGH')}"
    return lot, f"{lot} was signed for by {random.choice(PEOPLE)}, badge {random.randrange(10**5):05}.", "name"


def _decision(random: Random, number: int) -> tuple[str, str, str]:
    case = f"ROUTE-{number:03}"
    why = f"over {random.choice(CITIES)}, since {random.randrange(2, 40)} h are saved"
    return case, f"Decided for {case}: {why}.", "decision"


def _given_up(random: Random, number: int) -> tuple[str, str, str]:
    way = f"PLAN-{number:03}"
    return way, f"放弃 {way}:{random.choice(CITIES)} 的场站要到第 {random.randrange(1, 52)} 周才有空位。", "given up"


FACTS = (_seal, _amount, _name, _decision, _given_up)
