"""Who a model is: the employee whose order it works on."""

from __future__ import annotations

from collections.abc import Sequence

from agents.employee import tree
from agents.employee.ports import Staff
from runtime.context.blocks import AGENT, About
from runtime.context.parts import Part
from runtime.texts import in_language


class Introduction:
    """The base of every employee's prompt: its title, its place, and the language it answers in."""

    name = AGENT
    moves = False

    def __init__(self, staff: Staff) -> None:
        self._staff = staff

    async def parts(self, about: About) -> Sequence[Part]:
        """Return one part: who the model works as."""
        order = about.order
        node = tree.find(self._staff.head, order.employee)
        title = in_language(node.title, order.language) or node.id
        text = f"You work as {title} ({node.id}) of {self._staff.name}. Words for people are in `{order.language}`."
        return (Part(AGENT, text, f"employee {node.id}", pinned=True),)
