"""The conversation of a step with a model, as the order's stream tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contracts import CardId, Json, Problem, QuestionId
from runtime.context.compaction import Compaction
from runtime.model.port import Ending

if TYPE_CHECKING:
    from runtime.engine.result import Result
    from runtime.engine.view import Intent


@dataclass(slots=True)
class Call:
    """One tool call of a model, as far as it went. It is to an effect what the unit is in a direct step."""

    id: str
    """`step:index:answer:call`, made by us; `-` for the index of a step that is not repeated."""
    step: str
    index: int | None
    number: int
    """Its place in the answer, from 1."""
    name: str
    """The tool, by the name that the model wrote."""
    arguments: Mapping[str, Json]
    fault: str = ""
    """What is wrong with arguments that could not be read."""
    whole: Mapping[str, Json] | None = None
    """The arguments with the originals of what they refer to; None where they refer to nothing, or were not read."""
    unknown_reference: str = ""
    """Why they cannot be read: they refer to what the model was not shown."""
    failures: list[Problem] = field(default_factory=list)
    """What went wrong, oldest first."""
    waiting: tuple[CardId | QuestionId, ...] = ()
    """Cards and questions it raised last."""
    doubts: tuple[CardId | QuestionId, ...] = ()
    """Cards that ask whether its effect happened, since the last intent."""
    denied: tuple[CardId | QuestionId, ...] = ()
    """Cards it waits for since the other side did not let us in; empty once it was called again."""
    approved: str | None = None
    """The card that approved the effect to which we were not let in: it may approve it again."""
    intent: Intent | None = None
    result: Result | None = None
    stored: bool = False
    """Whether its result is shown by its reference alone, with what `shown` says of it."""
    shown: str = ""
    """What is said of a stored result: a digest by code, or the words of its skill's template."""
    told: str = ""
    """Words that the model sees in place of the JSON: of its skill's own template, or of a tool of the engine."""
    whole_of: str = ""
    """Reference of the stored datum that those words are the whole of."""
    refs: tuple[str, ...] = ()
    """References that those words tell, as the engine found them in the order."""
    length: int = 0
    """Characters of such a result."""
    use: str | None = None
    """The capability it called."""
    arguments_sha256: str | None = None
    """Of what it was called with, what code filled in included."""
    same_as: str | None = None
    """The identical call whose result is its own too; it was not made again."""
    failed: bool = False
    """Whether it failed for good, and the model is told."""
    happened_below: bool = False
    """Whether the order that it became failed after an effect took place there."""

    @property
    def answer(self) -> int:
        """Number of the answer that it stands in."""
        return int(self.id.split(":")[-2])

    @property
    def attempt(self) -> int:
        """Number of the attempt that is going on, or was the last."""
        return len(self.failures) + (0 if self.failed else 1)

    @property
    def settled(self) -> bool:
        """Whether its result, or why there is none, is in the ledger."""
        return self.failed or self.result is not None

    @property
    def problem(self) -> Problem | None:
        """What went wrong last."""
        return self.failures[-1] if self.failures else None

    @property
    def place(self) -> str:
        """Which call of the step it is, for idempotency keys: `a1c2` is the second call of the first answer."""
        return place_of(self.id)

    @property
    def in_doubt(self) -> bool:
        """Whether its effect was announced, and nobody knows yet if it happened."""
        return self.intent is not None and self.intent.open and self.result is None

    @property
    def unsettled(self) -> bool:
        """Whether it is in doubt, and nobody has given up on finding out."""
        return self.in_doubt and not self.failed

    @property
    def changed_the_world(self) -> bool:
        """Whether its effect took place, or may have."""
        happened = self.result is not None and self.result.happened and self.same_as is None
        return happened or self.happened_below or self.in_doubt


def place_of(call: str) -> str:
    """Return which call of its step it is, from its id: `a1c2` is the second call of the first answer."""
    answer, number = call.split(":")[-2:]
    return f"a{answer}c{number}"


@dataclass(slots=True)
class Turn:
    """One answer of the model and what came of it."""

    number: int
    """From 1, over all attempts of the step."""
    content: str
    calls: list[Call]
    answer_sha256: str | None = None
    """Where the whole answer is, when it is long: `content` and the arguments of the calls are empty at first."""
    whole: bool = False
    """Whether a long answer has been brought in."""
    refused: Problem | None = None
    """Why it was not taken for the result of the step."""
    ending: Ending = Ending.DONE
    """How it ended; nothing is taken of one that was cut, held back or broken off."""


@dataclass(slots=True)
class React:
    """All turns, oldest first, and what the model was told between them."""

    turns: list[Turn] = field(default_factory=list)
    before: int = 0
    """Answers of an earlier conversation about the same step, which a revision of the plan ended."""
    since: int = 0
    """The answer after which the order was reopened last; guards count from there."""
    told: list[tuple[int, Problem]] = field(default_factory=list)
    """After which answer the step failed, and why."""
    offered: tuple[str, ...] | None = None
    """Skills that the model is shown, where they were chosen for the task; None before that, or where none are."""
    opened: Sequence[Mapping[str, Any]] | None = None
    """Parts of the system prompt that were looked at when the step began; None before that, or when there were none."""
    opened_sha256: str | None = None
    """Where they are, when they are long."""
    condensed: dict[str, str] = field(default_factory=dict)
    """Reference of a long input that is declared as `summary` → what a model made of it."""
    compaction: Compaction = field(default_factory=Compaction)
    """What was made of the conversation when its window filled."""
    compaction_sha256: str | None = None
    """Where that is, when it is long; it is brought in before it is needed."""
    squeezed: int = 0
    """What had to give way in the newest request (`Squeeze`); it does not come back in the same step."""
    unreachable: int = 0
    """Times in a row that the model could not be reached."""

    @property
    def number(self) -> int:
        """Answers so far."""
        return self.turns[-1].number if self.turns else self.before

    @property
    def last(self) -> Turn | None:
        """The newest answer."""
        return self.turns[-1] if self.turns else None

    @property
    def counted(self) -> list[Turn]:
        """The turns that guards count."""
        return [turn for turn in self.turns if turn.number > self.since]

    @property
    def calls(self) -> Iterator[Call]:
        """Every call, oldest first."""
        return (call for turn in self.turns for call in turn.calls)

    @property
    def results(self) -> Iterator[Result]:
        """What its calls gave, oldest first, each once."""
        return (call.result for call in self.calls if call.result is not None and call.same_as is None)

    @property
    def changed_the_world(self) -> bool:
        """Whether an effect took place, or may have."""
        return any(call.changed_the_world for call in self.calls)

    def call(self, call_id: str) -> Call | None:
        """Return the call of that id, if an answer named it."""
        return next((call for call in self.calls if call.id == call_id), None)

    def tell(self, problem: Problem) -> None:
        """Remember why the step failed, for the next request."""
        self.told.append((self.number, problem))
