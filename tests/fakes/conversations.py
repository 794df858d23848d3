"""A conversation of any length with the facts that a ledger would have of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from runtime.canonical import sha256
from runtime.context.handover import Deed, Facts
from runtime.context.parts import Part
from runtime.context.prompt import Calling, Prompt, Said

REQUEST = "Find out why flights of order/F-2013 were late, and tell the duty planner."
RULE = "Never send mail without an approval."


def count(text: str) -> int:
    """A token for each four characters begun."""
    return -(-len(text) // 4)


def said(text: str, role: str = "user", *, origin: str = "a person", pinned: bool = False) -> Said:
    return Said(role, (Part("transcript", text, origin, pinned=pinned),))  # type: ignore[arg-type]


@dataclass
class Conversation:
    """Rules, a task, and turns of parallel calls; each result can be read again unless it says otherwise."""

    messages: list[Said] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    turns: int = 0

    def __post_init__(self) -> None:
        self.messages = [
            Said("system", (Part("rules", RULE, "the platform", pinned=True),)),
            Said("user", (Part("task", REQUEST, "step weather", pinned=True),)),
        ]

    def turn(
        self, *gave: str, phase: str = "weather", words: str = "", readable: bool = True, effect: bool = False
    ) -> None:
        """Let the model say something and call once for each result."""
        self.turns += 1
        ids = [f"call_{self.turns}_{number}" for number in range(1, len(gave) + 1)]
        calls = tuple(
            Calling(each, "sql.query", Part("transcript", '{"sql":"…"}', f"arguments of {each}")) for each in ids
        )
        self.messages.append(Said("assistant", (Part("transcript", words, f"answer {self.turns}"),), calls))
        for name, text in zip(ids, gave, strict=True):
            ref = sha256(text) if readable else None
            self.messages.append(Said("tool", (Part("transcript", text, f"call {name}", ref),), answers=name))
            self.deeds.append(
                Deed(f"weather:-:{name}", phase, f"sql.query for {name}", text, name, (f"F-{name}",), ref, effect)
            )

    def fill(self, turns: int, *, size: int = 1_200, phase: str = "weather", words: str = "On.") -> None:
        """Go on for so many turns, each with one result of so many characters and no value that has to be kept."""
        for _ in range(turns):
            self.turn(f"turn {self.turns} {'row ' * (size // 4)}", phase=phase, words=words)
            self.deeds[-1] = replace(self.deeds[-1], values=())

    @property
    def prompt(self) -> Prompt:
        return Prompt(tuple(self.messages))

    def facts(self, **more: object) -> Facts:
        return Facts(REQUEST, tuple(self.deeds), **more)  # type: ignore[arg-type]


def long_one(turns: int, *, size: int = 1_200, phase: str = "weather", parallel: int = 1) -> Conversation:
    """A conversation in which each call gives so many characters with a value of its own."""
    found = Conversation()
    for turn in range(1, turns + 1):
        gave = [f"F-call_{turn}_{each} " + f"row {turn} of {each} " * (size // 12) for each in range(1, parallel + 1)]
        found.turn(*[text[:size] for text in gave], phase=phase, words=f"Looking at day {turn}.")
    return found
