"""Takes out of a vector which language its text is in, so that a Chinese question finds an English text.

Vectors of a multilingual model lie in one heap for each language: without this, nearly everything in the language of
the question is nearer than the right answer in the other. What texts of a language have in common is measured with
sentences about nothing in particular, and subtracted (mean centring, as in Libovický, Rosa, Fraser 2020,
https://doi.org/10.18653/v1/2020.findings-emnlp.150).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.search.port import Embedder
from runtime.search.tokens import unspaced_share

if TYPE_CHECKING:
    from runtime.search.port import Vector

_ENGLISH = (
    "What is the weather like today?",
    "The train leaves at nine from platform four.",
    "My sister plays the violin in an orchestra.",
    "How many people live in this town?",
    "The museum is closed on Mondays.",
    "She bought a red bicycle last summer.",
    "Could you tell me the way to the river?",
    "The book describes the history of the region.",
    "Water boils at a hundred degrees.",
    "We painted the kitchen yellow.",
    "Which film won the prize?",
    "The dog sleeps under the table.",
    "He wrote a letter to the editor.",
    "Let us meet at the station tomorrow.",
    "The new bridge connects both parts of the city.",
    "Children learn languages quickly.",
    "A storm damaged the roof of the church.",
    "Please compare these two lists.",
    "The teacher explained the rules of the game.",
    "I forgot my umbrella at the office.",
    "Prices rose a little in spring.",
    "Find a quiet place to read.",
    "The concert begins after sunset.",
    "Mountains are covered with snow in winter.",
)
_CHINESE = (
    "今天天气怎么样？",
    "火车九点从四号站台出发。",
    "我姐姐在乐团里拉小提琴。",
    "这个城市有多少人口？",
    "博物馆星期一不开放。",
    "她去年夏天买了一辆红色自行车。",
    "请问去河边怎么走？",
    "这本书讲述了这个地区的历史。",
    "水在一百度沸腾。",
    "我们把厨房刷成了黄色。",
    "哪部电影得了奖？",
    "狗睡在桌子下面。",
    "他给编辑写了一封信。",
    "明天我们在车站见面吧。",
    "新桥连接了城市的两个部分。",
    "孩子学语言很快。",
    "暴风雨损坏了教堂的屋顶。",
    "请比较这两份清单。",
    "老师讲解了游戏规则。",
    "我把伞忘在办公室了。",
    "春天物价略有上涨。",
    "找一个安静的地方看书。",
    "音乐会在日落后开始。",
    "冬天山上覆盖着雪。",
)


SAMPLES = _ENGLISH + _CHINESE
"""What is measured; these are embedded in both forms, and are worth keeping."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What all texts of a language have in common."""

    spaced: Vector
    """Of languages that put spaces between words."""
    unspaced: Vector
    """Of Chinese, and of what is written like it."""


class Centred:
    """An embedder whose vectors say nothing of the language of their text.

    What is usual is measured once, for queries and passages apart: models tell the two forms apart.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._usual: dict[str, Usual] = {}

    @property
    def name(self) -> str:
        """Name of the model, and that its vectors are centred."""
        return f"{self._embedder.name}-centred"

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of things that are looked for; see the port."""
        return await self._centred("query", texts, self._embedder.embed_queries)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts that can be found; see the port."""
        return await self._centred("passage", texts, self._embedder.embed_passages)

    async def _centred(
        self, form: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]
    ) -> list[Vector]:
        made = await embed(texts)
        if form not in self._usual:
            # After the texts: what was kept of a model that gives vectors of another size now is known by then.
            self._usual[form] = usual_of(await embed(SAMPLES))
        return [centred(vector, text, self._usual[form]) for text, vector in zip(texts, made, strict=True)]


def usual_of(vectors: Sequence[Vector]) -> Usual:
    """Return what the vectors of `SAMPLES` have in common in each language."""
    spaced, unspaced = vectors[: len(_ENGLISH)], vectors[len(_ENGLISH) :]
    return Usual(_mean(spaced), _mean(unspaced))


def _mean(vectors: Sequence[Vector]) -> Vector:
    import numpy as np

    mean: Vector = np.mean(vectors, axis=0, dtype=np.float32)
    return mean


def centred(vector: Vector, text: str, usual: Usual) -> Vector:
    """Return the vector without what is usual for the text's language, or its mixture of them; of length 1."""
    share = unspaced_share(text)
    rest: Vector = vector - (share * usual.unspaced + (1 - share) * usual.spaced)
    length = float(rest @ rest) ** 0.5
    return rest / length if length else rest
