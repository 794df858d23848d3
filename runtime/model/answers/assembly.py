"""One answer out of the chunks of a stream, or out of a whole completion, by the same rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.model.answers.calls import Calls
from runtime.model.answers.fields import index_of, json_text_of, list_of, mapping_of, text_of, thoughts_of, words_of
from runtime.model.answers.raw import Raw
from runtime.model.answers.reasons import cut_by


class Assembly:
    """Takes the chunks of one stream in turn and has the answer at any time.

    Nothing that an endpoint sends is an error here: what does not follow the protocol is passed over and named in
    `faults`. Of several choices the first one that came counts.
    """

    def __init__(self, *, streamed: bool = True) -> None:
        self._streamed = streamed
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = Calls()
        self._choice: int | None = None
        self._finish_reason: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._model = self._error = ""
        self._faults: dict[str, None] = {}

    def take(self, chunk: Mapping[str, Any]) -> None:
        """Take in one chunk; the parsed JSON of one event."""
        chunk = mapping_of(chunk)
        self._model = self._model or text_of(chunk.get("model"))
        self._take_error(chunk.get("error"))
        self._take_usage(chunk.get("usage") or mapping_of(chunk.get("x_groq")).get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list | tuple) and not self._error:
            self._fault("choices are no list")
        for choice in list_of(choices):
            self._take_choice(mapping_of(choice))

    def whole(self) -> Raw:
        """Return what has come so far as one answer."""
        return Raw(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            refusal="".join(self._refusal),
            calls=tuple(self._calls.whole()),
            finish_reason=self._finish_reason,
            usage=self._usage,
            model=self._model,
            error=self._error,
            faults=tuple(self._faults),
            streamed=self._streamed,
        )

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        index = index_of(choice.get("index")) or 0
        if self._choice is None:
            self._choice = index
        if index != self._choice:
            self._fault("there is more than one choice")
            return
        self._take_message(choice)
        self._take_usage(choice.get("usage"))
        reason = str(choice.get("finish_reason") or "")
        if reason and (self._finish_reason is None or cut_by(reason)):  # a later, better one does not take it back
            self._finish_reason = reason

    def _take_message(self, choice: Mapping[str, Any]) -> None:
        delta = mapping_of(choice.get("delta"))
        if delta:
            self._take_words(delta)
            self._calls.take(_calls_in(delta))
            return
        message = mapping_of(choice.get("message")) or {"content": choice.get("text")}
        if not self._has_come():  # some send the whole message once more at the end of its parts
            self._take_words(message)
            self._calls.take_whole(_calls_in(message))

    def _take_words(self, message: Mapping[str, Any]) -> None:
        words, thoughts = words_of(message.get("content"))
        self._content.append(words)
        self._reasoning.append(thoughts or thoughts_of(message))
        self._refusal.append(text_of(message.get("refusal")))

    def _take_usage(self, usage: Any) -> None:
        if usage and isinstance(usage, Mapping) and (self._usage is None or any(usage.values())):
            self._usage = usage

    def _take_error(self, error: Any) -> None:
        if error and not self._error:
            self._error = text_of(error) or text_of(mapping_of(error).get("message")) or json_text_of(error)

    def _has_come(self) -> bool:
        return any(self._content) or any(self._refusal) or bool(self._calls)

    def _fault(self, words: str) -> None:
        self._faults[words] = None


def raw_of(completion: Mapping[str, Any]) -> Raw:
    """Return a completion that came whole; the parsed JSON of its body."""
    assembly = Assembly(streamed=False)
    assembly.take(completion)
    return assembly.whole()


def _calls_in(message: Mapping[str, Any]) -> list[Any]:
    """Return the calls of a message or of a part of one, those of the older protocol among them."""
    old = message.get("function_call")
    return [*list_of(message.get("tool_calls")), *([{"index": 0, "function": old}] if isinstance(old, Mapping) else [])]
