"""`silicon memory`: what an organisation remembers, and how people see, search, write, correct and forget it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.commands import memory_changing, memory_files, memory_knowledge, memory_profile, memory_whole
from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation, command
from console.cli.render.memories import hit_lines, memory_detail, memory_lines, written_lines
from console.cli.session import Session, conduct
from console.ids import choose
from console.ports import Application
from console.ports_memories import Asked
from contracts import MemoryClass, MemoryId, MemoryKind, MemoryState

app = command("See what is remembered; search, write, correct and forget it.")
Memory = Annotated[str, typer.Argument(metavar="MEMORY", help="The memory; the first or last letters of its id do.")]
Whose = Annotated[
    str | None,
    typer.Option("--whose", metavar="me|business|EMPLOYEE", help="Only memories of these.", show_default=False),
]
Domains = Annotated[
    list[str] | None,
    typer.Option("--domain", metavar="NAME", help="Of this domain and of none; repeatable.", show_default=False),
]
Entities = Annotated[
    list[str] | None,
    typer.Option("--about", metavar="NAME", help="In which this name stands; repeatable.", show_default=False),
]
Kinds = Annotated[list[MemoryKind] | None, typer.Option("--kind", help="Of this kind; repeatable.", show_default=False)]


@app.command("list")
def list_(
    organisation: Organisation,
    *,
    whose: Whose = None,
    domain: Domains = None,
    kind: Kinds = None,
    about: Entities = None,
    state: Annotated[
        list[MemoryState] | None,
        typer.Option("--state", help="In this state; repeatable. Else what holds.", show_default=False),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="MEMORY", help="Only those behind it.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="So many at most.")] = 100,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List memories, oldest first, and how they stand."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        asked = Asked(
            states=tuple(state or (MemoryState.ACTIVE,)), kinds=tuple(kind or ()), domains=tuple(domain or ()),
            whose=whose, entities=tuple(about or ()),
        )  # fmt: skip
        behind = None if after is None else await find_memory(application, folder, after, as_)
        page = await application.memories(folder, asked, by=as_, after=behind, limit=limit)
        session.output.data(page)
        if not page.memories:
            session.output.show(session.say("memory-none"))
        for row in page.memories:
            session.output.show(*memory_lines(row, session.output))
        if page.more:
            session.output.note(session.say("memory-more", id=page.memories[-1].record.memory_id.ulid))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(
    organisation: Organisation, memory: Memory, *, as_: As = None, language: Language = None, as_json: AsJson = False
) -> None:
    """Show one memory, its source and its history."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        row, history = await application.memory(folder, await find_memory(application, folder, memory, as_), by=as_)
        session.output.data({"memory": row, "history": history})
        session.output.show(*memory_detail(row, history, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def search(
    organisation: Organisation,
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What is looked for, in words.")],
    *,
    whose: Whose = None,
    domain: Domains = None,
    kind: Kinds = None,
    about: Entities = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, max=100, help="So many at most.", show_default=False)
    ] = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Find the few memories that answer a question.

    It tells why these. Each counts as read.
    """

    async def work(session: Session, application: Application) -> int:
        asked = Asked(kinds=tuple(kind or ()), domains=tuple(domain or ()), whose=whose, entities=tuple(about or ()))
        found = await application.search_memories(Path(organisation), query, asked, by=as_, top=top)
        session.output.data(found)
        if not found.hits:
            session.output.show(session.say("memory-nothing-found"))
        for hit in found.hits:
            session.output.show(*hit_lines(hit, session.output))
        if found.no_room:
            session.output.note(session.say("memory-no-room", count=len(found.no_room)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def write(
    organisation: Organisation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be remembered; it should stand alone.")],
    *,
    whose: Annotated[str, typer.Option("--whose", metavar="me|business|EMPLOYEE", help="Whose memory it is.")] = "me",
    class_: Annotated[
        MemoryClass, typer.Option("--class", help="How fast it fades: a rule, fact or decision does not.")
    ] = MemoryClass.FACT,
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="NAME", help="Its business domain.", show_default=False)
    ] = None,
    says: Annotated[
        tuple[str, str, str] | None,
        typer.Option(
            "--says", metavar="SUBJECT RELATION VALUE",
            help="What it says of what, so that a contradiction is found: 'fiscal year' 'starts in' April.",
            show_default=False,
        ),
    ] = None,
    about: Entities = None,
    importance: Annotated[float, typer.Option("--importance", min=0, max=1, help="0 to 1.")] = 0.7,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write something down, unless it is known.

    What contradicts a key decision waits for a person: exit code 3.
    """

    async def work(session: Session, application: Application) -> int:
        written = await application.write_memory(
            Path(organisation), text, by=as_, whose=whose, memory_class=class_, domain=domain, about=says or (),
            entities=tuple(about or ()), importance=importance,
        )  # fmt: skip
        session.output.data(written)
        session.output.show(*written_lines(written, session.output))
        return Exit.WAITING if written.became == "disputed" else Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def remember(organisation: Organisation, *, language: Language = None, as_json: AsJson = False) -> None:
    """Take in what people said in conversations lately."""

    async def work(session: Session, application: Application) -> int:
        written = await application.remember_turns(Path(organisation))
        session.output.data({"written": written})
        for each in written:
            session.output.show(*written_lines(each, session.output))
        if not written:
            session.output.show(session.say("memory-nothing-new"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def cycle(organisation: Organisation, *, language: Language = None, as_json: AsJson = False) -> None:
    """Hold today's cycle, which archives what has faded.

    That is what three of them in a row found faint. A day has one; servers hold it by themselves.
    """

    async def work(session: Session, application: Application) -> int:
        held = await application.hold_memory_cycle(Path(organisation))
        session.output.data(held)
        if not held.held:
            session.output.show(session.say("memory-cycle-held"))
        else:
            session.output.show(
                session.say(
                    "memory-cycle", looked=held.looked_at, faded=len(held.faded), archived=len(held.archived),
                    missed=held.missed_days,
                )
            )  # fmt: skip
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def rebuild(*, language: Language = None, as_json: AsJson = False) -> None:
    """Make what is derived again from the ledger.

    That is the table by which memories are found, and the pages CURRENT.md and AUTO-MEMORY.md.
    """

    async def work(session: Session, application: Application) -> int:
        count = await application.rebuild_memories()
        session.output.data({"memories": count})
        session.output.show(session.say("memory-rebuilt", count=count))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


async def find_memory(application: Application, folder: Path, typed: str, by: str | None) -> MemoryId:
    """Return the memory that was typed in full or in part, of those that may be seen."""
    return choose(MemoryId, typed, await application.memory_ids(folder, by=by))


memory_changing.register(app, find_memory)
memory_files.register(app)
memory_whole.register(app)
memory_knowledge.register(app)
memory_profile.register(app)
