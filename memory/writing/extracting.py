"""What of a turn could be remembered: sentences with what they are, found by code in English and Chinese.

Patterns name the subject, the relation and the value where a sentence has a form that tells them. What no pattern
knows is no fact: a sentence that is missed can be remembered by asking for it, one too many is noise for years.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts import MemoryClass, MemoryKind
from memory.writing.policy import Feature

LONGEST = 1_000
"""Characters of a sentence that is looked at; what is longer is a document and no memory."""
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_ENTITY = re.compile(r"\b[A-Z][\w&-]*(?: [A-Z][\w&-]*)*")
_ASKS = (
    "who",
    "what",
    "when",
    "where",
    "why",
    "how",
    "which",
    "do",
    "does",
    "did",
    "is",
    "are",
    "can",
    "could",
    "would",
)
_REMEMBER = re.compile(
    r"^(?:please )?(?:remember|note|keep in mind|don't forget)(?: that)?[\s,:]+(?P<en>.+)$"
    r"|^请?(?:记住|记得|别忘了)[，,：:\s]*(?P<zh>.+)$",
    re.IGNORECASE,
)
_SMALL_TALK_EN = re.compile(
    r"^(?:hi|hello|hey|thanks|thank you|good (?:morning|evening|night|afternoon)|bye|ok|okay|great|nice|cool|sure|lol"
    r"|haha|how are you|see you|you're welcome)\b",
    re.IGNORECASE,
)
_SMALL_TALK_ZH = ("你好", "谢谢", "早上好", "晚上好", "再见", "好的", "哈哈", "辛苦了")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that could be remembered."""

    text: str
    features: frozenset[Feature]
    kind: MemoryKind = MemoryKind.SEMANTIC
    memory_class: MemoryClass = MemoryClass.OTHER
    subject: str | None = None
    relation: str | None = None
    value: str | None = None
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of sentences; its groups `subject`, `relation`, `value` are what they say, else the names given here."""

    pattern: re.Pattern[str]
    memory_class: MemoryClass
    features: frozenset[Feature]
    subject: str = ""
    relation: str = ""


def _form(pattern: str, memory_class: MemoryClass, *features: Feature, subject: str = "", relation: str = "") -> _Form:
    return _Form(re.compile(pattern, re.IGNORECASE), memory_class, frozenset(features), subject, relation)


_ME = "the person"
_FACT, _LIKES, _DECISION = MemoryClass.FACT, MemoryClass.PREFERENCE, MemoryClass.DECISION
_RELATIONS = "starts? (?:in|on|at)|ends? (?:in|on|at)|is in|is at|was moved to|costs?|uses?|runs on|belongs to"
_FORMS = (
    _form(r"^we (?:have )?(?:decided|agreed) (?:to|on|that) (?P<value>.+)$", _DECISION, Feature.FACT, Feature.DECISION),
    _form(r"^(?:我们|咱们)(?:决定|商定|同意)了?(?P<value>.+)$", _DECISION, Feature.FACT, Feature.DECISION),
    _form(r"^i (?:would )?(?:prefer|like|love|want) (?P<value>.+?)(?: (?:over|than) .+)?$", _LIKES, Feature.FACT),
    _form(r"^i (?:don't like|dislike|hate|do not want) (?P<value>.+)$", _LIKES, Feature.FACT),
    _form(r"^我更?(?:喜欢|偏好|想要)(?P<value>.+)$", _LIKES, Feature.FACT),
    _form(r"^(?:please )?call me (?P<value>.+)$", _LIKES, Feature.FACT, subject=_ME, relation="is called"),
    _form(r"^请?叫我(?P<value>.+)$", _LIKES, Feature.FACT, subject=_ME, relation="is called"),
    _form(rf"^(?:my|our|the) (?P<subject>.+?) (?P<relation>{_RELATIONS}) (?P<value>.+)$", _FACT, Feature.FACT),
    _form(r"^(?:my|our) (?P<subject>.+?) (?P<relation>is|are|has|needs) (?P<value>.+)$", _FACT, Feature.FACT),
    _form(r"^(?:我们|我)的(?P<subject>.+?)(?P<relation>是|在|从|用|叫)(?P<value>.+)$", _FACT, Feature.FACT),
    _form(
        r"^we (?P<relation>use|buy from|sell to|work with|deploy on|run on|store .+? in) (?P<value>.+)$",
        _FACT, Feature.FACT, subject="we",
    ),
)  # fmt: skip
"""The first that fits counts."""
_SAME: Mapping[str, str] = {"start in": "starts in", "start on": "starts on", "are": "is", "was moved to": "is in"}


def candidates(text: str) -> Iterator[Candidate]:
    """Yield what of the words of one turn could be remembered, with what speaks for and against it."""
    for part in _END.split(text):
        sentence = part.strip()
        if sentence and len(sentence) <= LONGEST:
            yield _candidate(sentence)


def _candidate(sentence: str) -> Candidate:
    wish = _REMEMBER.match(sentence)
    said = sentence if wish is None else (wish["en"] or wish["zh"]).strip()
    features = frozenset({Feature.REMEMBER} if wish else ())
    if _SMALL_TALK_EN.match(said) or said.startswith(_SMALL_TALK_ZH):
        return Candidate(said, features | {Feature.SMALL_TALK})
    if wish is None and _asks(said):
        return Candidate(said, frozenset())
    entities = tuple(dict.fromkeys(_ENTITY.findall(said[1:])))  # the first word is a capital for being first
    bare = said.rstrip(".!。！ ")
    for form in _FORMS:
        found = form.pattern.match(bare)
        if found is not None:
            groups = found.groupdict()
            relation = (groups.get("relation") or form.relation).lower()
            return Candidate(
                said, features | form.features, MemoryKind.SEMANTIC, form.memory_class,
                groups.get("subject") or form.subject or None, _SAME.get(relation, relation) or None,
                groups.get("value"), entities,
            )  # fmt: skip
    return Candidate(said, features, entities=entities)


def _asks(sentence: str) -> bool:
    """Whether a sentence is a question, which states nothing."""
    return sentence.endswith(("?", "？")) or sentence.lower().split(" ", 1)[0] in _ASKS
