"""What a turn tells about its person: seen by code, in English and Chinese, from how they ask and what they ask for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.conversations import Turn
from memory.personal.traits import is_role
from memory.writing.extracting import candidates
from runtime.search import plain, tokens

ASKED, ASKED_AGAIN, IGNORED, CORRECTED = 1.0, 1.5, -0.25, -1.0
"""Weights of attention: asking for something, asking further about it, leaving what was shown aside, correcting it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that was noticed."""

    trait: str
    value: str
    weight: float
    why: str
    """In what: `asked`, `asked again`, `ignored`, `corrected`, `said`."""


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SAID: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("format", "table"): _words(r"\btables?\b", "表格", "列表格"),
    ("format", "list"): _words(r"\b(?:bullets?|bullet points?|lists?)\b", "要点", "列点"),
    ("format", "prose"): _words(r"\b(?:prose|full sentences|running text)\b", "文字叙述", "段落"),
    ("format", "chart"): _words(r"\b(?:charts?|graphs?|plots?)\b", "图表", "曲线图"),
    ("length", "short"): _words(r"\b(?:short|brief|concise|briefly)\b", "简短", "简洁", "简单说"),
    ("length", "long"): _words(r"\b(?:long|detailed|thorough|in detail)\b", "详细", "详尽"),
    ("language", "en"): _words(r"\bin english\b", "用英文", "用英语"),
    ("language", "zh"): _words(r"\bin chinese\b", "用中文", "说中文"),
    ("tone", "formal"): _words(r"\bformal\b", "正式"),
    ("tone", "friendly"): _words(r"\b(?:friendly|informal|casual)\b", "随意", "轻松"),
    ("tone", "plain"): _words(r"\bplain (?:words|language|english)\b", "通俗"),
}
_LIKES = _words(
    r"\bi (?:would )?(?:prefer|like|want|love)\b", r"\bplease (?:always )?(?:answer|reply|write|use|give)\b",
    r"\b(?:always|from now on)\b", "我(?:更)?(?:喜欢|偏好|想要|希望)", "请(?:总是|一直)?(?:用|给|回答|写)", "以后",
)  # fmt: skip
_DISLIKES = _words(r"\bi (?:don't|do not) (?:like|want)\b", r"\bno (?:more )?", "不要", "不喜欢", "别用")
_LOOKS: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("granularity", "hour"): _words(r"\bhour(?:ly|s)?\b", "每小时", "按小时"),
    ("granularity", "day"): _words(r"\b(?:daily|per day|by day|each day)\b", "每天", "每日", "按天"),
    ("granularity", "week"): _words(r"\b(?:weekly|per week|by week|each week)\b", "每周", "按周"),
    ("granularity", "month"): _words(r"\b(?:monthly|per month|by month|each month)\b", "每月", "按月"),
    ("granularity", "quarter"): _words(r"\b(?:quarterly|per quarter|by quarter)\b", "每季", "按季"),
    ("granularity", "year"): _words(r"\b(?:yearly|annual(?:ly)?|per year|by year)\b", "每年", "按年"),
    ("perspective", "cost"): _words(r"\b(?:costs?|expenses?|spend(?:ing)?|budgets?)\b", "成本", "费用", "预算"),
    ("perspective", "risk"): _words(r"\b(?:risks?|risky|danger|exposure)\b", "风险"),
    ("perspective", "customers"): _words(r"\b(?:customers?|passengers?|clients?|guests?)\b", "客户", "顾客", "旅客"),
    ("perspective", "quality"): _words(r"\b(?:quality|defects?|complaints?)\b", "质量", "投诉"),
    ("perspective", "speed"): _words(r"\b(?:speed|delays?|lead time|how fast)\b", "速度", "延误", "时效"),
    ("perspective", "growth"): _words(r"\b(?:growth|growing|expand)\b", "增长"),
    ("period", "now"): _words(r"\b(?:now|today|current(?:ly)?|right now)\b", "现在", "今天", "当前"),
    ("period", "past"): _words(
        r"\b(?:last (?:week|month|year)|yesterday|history|so far)\b", "上周", "上个月", "去年", "历史"
    ),
    ("period", "future"): _words(
        r"\b(?:next (?:week|month|year)|tomorrow|forecast|will)\b", "下周", "下个月", "明年", "预测"
    ),
}
_THINKS: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("decides_by", "recommendation"): _words(
        r"\bwhat (?:do|would) you (?:recommend|suggest|do)\b", "你(?:建议|推荐)", "怎么办"
    ),
    ("decides_by", "risks"): _words(
        r"\bwhat (?:could|can|might) go wrong\b", r"\bwhat (?:are|is) the risks?\b", "有什么风险"
    ),
    ("decides_by", "numbers"): _words(r"\bhow (?:much|many)\b", r"\bwhat (?:are|is) the numbers?\b", "多少", "数据是"),
    ("decides_by", "evidence"): _words(
        r"\bhow do (?:you|we) know\b", r"\b(?:evidence|sources?|proof)\b", "依据", "证据", "来源"
    ),
    ("decides_by", "options"): _words(
        r"\bwhat (?:are|other) (?:the )?options\b", r"\balternatives?\b", "有哪些(?:选择|方案)", "其他方案"
    ),
    ("depth", "overview"): _words(r"\b(?:overview|in a nutshell|big picture|summary)\b", "概述", "总体", "总结"),
    ("depth", "detail"): _words(r"\b(?:in detail|details|step by step|exactly how)\b", "细节", "具体", "详细"),
}
_WHAT_IS = re.compile(
    r"\bwhat (?:is|are|does) (?:an? |the )?(?P<en>[\w -]{2,40}?)(?: mean)?\s*\?"
    r"|(?P<zh>[\w\u4e00-\u9fff]{2,20}?)(?:是什么|什么意思|指什么)",
    re.IGNORECASE,
)  # fmt: skip
_INSTEAD = re.compile(
    r"^(?:no[,.]?|actually,?)\s+(?:not|i mean|rather)\s+(?P<old>[\w -]{2,40}?),?"
    r"\s+(?:but|i mean|rather)\s+(?P<new>[\w -]{2,40})"
    r"|不是(?P<old_zh>[\w\u4e00-\u9fff]{2,20}?)[，,]?\s*(?:而)?是(?P<new_zh>[\w\u4e00-\u9fff]{2,20})",
    re.IGNORECASE,
)  # fmt: skip
_ASKS = _words(r"[?？]\s*$", r"^(?:show|give|tell|list|compare|explain)\b", "^(?:看|给我|列出|比较|说明|告诉)")


def noticed(
    turn: Turn, before: Sequence[Turn], *, terms: Collection[str] = (), domain: str | None = None
) -> Iterator[Notice]:
    """Yield what a turn tells about its person.

    Args:
        turn: what they say.
        before: what they said before in this conversation, the newest last.
        terms: words of the organisation that not everybody knows: names of metrics, titles of knowledge.
        domain: what the conversation is about.
    """
    found = [*_form(turn.text), *_corrections(turn.text)]
    if _ASKS.search(turn.text):
        found += _attention(turn, before, terms, domain)
        found += _thinking(turn.text, terms)
    else:
        found += [Notice("term", f"{term}={_KNOWN}", 0.5, "said") for term in _named(turn.text, terms)]
    found += _ignored(turn)
    yield from (notice for notice in found if not is_role(notice.value))


_KNOWN, _EXPLAIN = "known", "to explain"


def _form(text: str) -> Iterator[Notice]:
    for candidate in candidates(text):
        sentence = candidate.text
        wants, refuses = _LIKES.search(sentence), _DISLIKES.search(sentence)
        if not (wants or refuses):
            continue
        for (trait, value), pattern in _SAID.items():
            if pattern.search(sentence):
                yield Notice(trait, value, -1.0 if refuses else 1.0, "said")


def _attention(turn: Turn, before: Sequence[Turn], terms: Collection[str], domain: str | None) -> Iterator[Notice]:
    told = [*_looked_at(turn.text, terms)]
    told += [("domain", domain)] if domain else []
    told += [("topic", turn.intent)] if turn.intent else []
    earlier = {each for turn_ in before[-3:] for each in _looked_at(turn_.text, terms)}
    for trait, value in dict.fromkeys(told):
        again = (trait, value) in earlier
        yield Notice(trait, value, ASKED_AGAIN if again else ASKED, "asked again" if again else "asked")


def _looked_at(text: str, terms: Collection[str]) -> Iterator[tuple[str, str]]:
    yield from (key for key, pattern in _LOOKS.items() if pattern.search(text))
    for candidate in candidates(text):
        yield from (("entity", entity) for entity in candidate.entities)
    for entity in re.findall(r"(?<=[a-z,;:] )[A-Z][\w&-]+(?: [A-Z][\w&-]+)*", text):
        yield "entity", entity
    yield from (("metric", term) for term in _named(text, terms))


def _named(text: str, terms: Collection[str]) -> list[str]:
    """Return the terms of the organisation that a text names, whatever their ending."""
    there, words = set(tokens(text)), " ".join(plain(text).split())
    found = []
    for term in terms:
        parts = tokens(term.replace("-", " "))
        if parts and (set(parts) <= there or " ".join(plain(term).split()) in words):
            found.append(term)
    return found


def _thinking(text: str, terms: Collection[str]) -> Iterator[Notice]:
    yield from (
        Notice(trait, value, 1.0, "asked") for (trait, value), pattern in _THINKS.items() if pattern.search(text)
    )
    for match in _WHAT_IS.finditer(text):
        asked = (match["en"] or match["zh"]).strip()
        for term in _named(asked, terms):
            yield Notice("term", f"{term}={_EXPLAIN}", 2.0, "asked")


def _corrections(text: str) -> Iterator[Notice]:
    match = _INSTEAD.search(text)
    if match is not None:
        yield Notice("topic", (match["old"] or match["old_zh"]).strip().lower(), CORRECTED, "corrected")
        yield Notice("topic", (match["new"] or match["new_zh"]).strip().lower(), ASKED, "corrected")


def _ignored(turn: Turn) -> Iterator[Notice]:
    """Yield the names in what was shown that its reader leaves aside."""
    said = plain(turn.text)
    for shown in turn.recalled:
        for candidate in candidates(shown):
            for entity in candidate.entities:
                if plain(entity) not in said:
                    yield Notice("entity", entity, IGNORED, "ignored")
