"""What a face needs of knowledge folders; part of the port `Application`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from console.views_knowledge import KnowledgeLinted, KnowledgePlaced
from contracts import Name


class KnowledgePort(Protocol):
    """The folder knowledge/ of an organisation, as people look after it."""

    async def lint_knowledge(self, folder: Path, *, fix: bool = False) -> KnowledgeLinted:
        """Return what is wrong in the folder; with `fix` what can be mended without losing a word is mended first.

        Raises:
            NotFound: there is no such folder.
            KnowledgeUnreadable: a file is no text.
        """
        ...

    async def place_knowledge(
        self, folder: Path, text: str, *, nature: str, every_turn: bool = False, when: str = "", exact: bool = False,
        write: bool = False, title: str = "", domain: Name | None = None,
    ) -> KnowledgePlaced:  # fmt: skip
        """Return where something belongs; with `write` it is written there, together with the entry that leads to it.

        Args:
            folder: the organisation.
            text: what is to be written down.
            nature: `happened`, `standing`, `conclusion`, `object` or `rule`.
            every_turn: whether it is needed in every turn.
            when: the one sentence that says when to open it.
            exact: whether it has to be reproduced exactly.
            write: whether it is written.
            title: what it is called.
            domain: of which business domain it is.

        Raises:
            NotAMemory: it belongs nowhere here, or stands somewhere already.
            KnowledgeBusy: somebody else writes.
            KnowledgeUnwritable: the disk is full, or the folder is not ours to write in.
        """
        ...
