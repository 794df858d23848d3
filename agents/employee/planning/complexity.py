"""How much a goal asks for: counted by code, so that the same goal is always taken the same way, for a told reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_ENTITY = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]+|\b\d[\d.,:/-]*\b|[“\"'「『][^”\"'」』]{2,60}[”\"'」』]|[\w.+-]+@[\w.-]+"
)
"""Names, numbers and dates, quotations, addresses."""
_DOES = frozenset((
    "approve", "arrange", "book", "buy", "cancel", "change", "collect", "compare", "compile", "contact", "create",
    "deliver", "draft", "email", "fix", "handle", "hire", "invoice", "migrate", "move", "notify", "order", "organise",
    "organize", "pay", "plan", "prepare", "publish", "refund", "register", "release", "remove", "repair", "replace",
    "reschedule", "resolve", "schedule", "send", "settle", "ship", "transfer", "update", "waive", "write",
))  # fmt: skip
"""Verbs that change something or take several steps."""
_DOES_ZH = ("安排", "采购", "创建", "发送", "退款", "付款", "通知", "更新", "修改", "取消", "准备", "整理", "比较",
            "编写", "发布", "预订", "处理", "解决", "提交", "转账", "汇总", "制定", "联系", "修复", "替换")  # fmt: skip
_THEN = re.compile(r"\b(?:then|after(?:wards)?|and|finally|first|next)\b|[;；]|然后|之后|并且|最后|首先", re.IGNORECASE)
_LONG = 200
"""Characters from which a goal counts as long; a character of Chinese says as much as two."""
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Complexity:
    """The parts of the score, and from where on a plan is made."""

    skills: float
    """Skills whose words stand in the goal, two for each."""
    verbs: float
    """Verbs of effect, one for each."""
    entities: float
    """Names, numbers and dates, a quarter for each."""
    length: float
    """How long it is, and how many parts it is made of."""
    threshold: float

    @property
    def score(self) -> float:
        """The sum."""
        return self.skills + self.verbs + self.entities + self.length

    @property
    def needs_plan(self) -> bool:
        """Whether it is more than a question."""
        return self.score >= self.threshold

    def __str__(self) -> str:
        parts = (("skills", self.skills), ("verbs", self.verbs), ("entities", self.entities), ("length", self.length))
        told = " + ".join(f"{name} {value:g}" for name, value in parts if value) or "nothing"
        return f"{self.score:g} ({told}), a plan from {self.threshold:g} on"


def complexity_of(goal: str, *, fitting: Iterable[str], threshold: float) -> Complexity:
    """Return how much a goal asks for; `fitting` are the skills that its words lead to."""
    words = [word.casefold() for word in _WORD.findall(goal)]
    verbs = len({word for word in words if word in _DOES}) + sum(verb in goal for verb in _DOES_ZH)
    length = len(goal) + len(_HAN.findall(goal))
    parts = len(_THEN.findall(goal))
    return Complexity(
        skills=2.0 * min(len(list(fitting)), 3),
        verbs=float(min(verbs, 4)),
        entities=0.25 * min(len(_ENTITY.findall(goal)), 8),
        length=min(length / _LONG, 2.0) // 0.5 * 0.5 + 0.5 * min(parts, 4),
        threshold=threshold,
    )
