"""What a prompt shows so far: each datum once, and a pointer wherever it comes up again."""

from __future__ import annotations

from collections.abc import Container

from runtime.canonical import to_text
from runtime.context.parts import Form, Part
from runtime.context.prompt import LeftOut
from runtime.context.retold import Shown


class Showing:
    """Makes the parts of one prompt, in reading order.

    Args:
        least: characters under which a text is words, not a datum that may stand in the prompt only once; and from
            which on a repetition of a shown datum is cut out of what the model said.
        whole: references of data that come up whole later on, and so stand nowhere else in the prompt.
    """

    def __init__(self, least: int, *, whole: Container[str] = ()) -> None:
        self._least = least
        self._whole = whole
        self._at: dict[str, str] = {}
        """Reference → the name of the place where the datum stands."""
        self._retold = Shown(least)
        self.left_out: list[LeftOut] = []

    def opened(self, part: Part) -> Part:
        """Return a part that was made when the step began: as it is, or a pointer where its datum comes up whole."""
        if part.ref is None or part.form is Form.POINTER:
            return part
        if part.ref in self._whole:
            return self._pointer(part.text, part.ref, "a later result", block=part.block, origin=part.origin)
        self._at[part.ref] = f"{part.block}: {part.origin}"
        return part

    def datum(self, text: str, ref: str, *, block: str, origin: str, name: str) -> Part:
        """Return a datum whole, or a pointer to where it stands already.

        Args:
            text: the datum as it is written.
            ref: sha256 of its canonical bytes.
            name: by which a pointer can name this place.
        """
        if len(text) < self._least:
            return Part(block, text, origin)
        if (there := self._at.get(ref)) is not None:
            return self._pointer(text, ref, there, block=block, origin=origin)
        self._at[ref] = name
        self._retold.show(name, text)
        return Part(block, text, origin, ref)

    def summary(self, text: str, ref: str, *, block: str, origin: str, name: str, length: int) -> Part:
        """Return what stands for a datum: its reference with a bounded summary; a pointer where it stands already.

        Args:
            length: characters of the whole.
        """
        if length < self._least:
            return Part(block, text, origin)
        if ref in self._whole:
            return self._pointer(text, ref, "a later result", block=block, origin=origin)
        if (there := self._at.get(ref)) is not None:
            return self._pointer(text, ref, there, block=block, origin=origin)
        self._at[ref] = name
        self.left_out.append(LeftOut(origin, "long: its reference and a summary stand for it", length - len(text)))
        return Part(block, text, origin, ref, Form.SUMMARY)

    def words(self, text: str, *, block: str, origin: str) -> Part:
        """Return what a model said, without what it repeats of data that the prompt shows."""
        cut, names = self._retold.cut(text)
        if names:
            self.left_out.append(LeftOut(origin, f"repeats {', '.join(names)}", len(text) - len(cut)))
        return Part(block, cut, origin)

    def _pointer(self, text: str, ref: str, there: str, *, block: str, origin: str) -> Part:
        pointer = to_text({"__same_as": there, "__refId": ref})
        self.left_out.append(LeftOut(origin, f"stands in {there} already", len(text) - len(pointer)))
        return Part(block, pointer, origin, ref, Form.POINTER)
