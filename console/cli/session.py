"""What every command goes through: settings, language, log, and errors turned into words and exit codes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import typer

from console.cli.exits import Exit
from console.cli.output import Output
from console.cli.problems import tell, tell_interrupted, tell_unexpected, unwrap
from console.cli.unwritten import AnswerNotWritten
from console.errors import UnknownId
from console.ids import choose
from console.ports import Application, OpenApplication
from console.ports_executions import AnyId, Executions, OpenExecutions
from console.texts import LANGUAGES, say_in
from contracts import Event
from runtime.errors import InvalidArguments, SiliconError
from runtime.settings.home import find_home
from runtime.settings.load import Settings, load
from runtime.telemetry.logs import FILE, start_logs
from runtime.telemetry.redaction import register
from runtime.texts import Say


@dataclass
class Session:
    """One command at work."""

    settings: Settings
    output: Output
    execution_id: str | None = None
    """The execution that this command runs, once it has begun."""

    @property
    def say(self) -> Say:
        """The catalogue in the language of the answer."""
        return self.output.say

    def watch(self, event: Event) -> None:
        """Remember and tell which execution runs, so that one can go on with it after Ctrl-C, and after a kill."""
        begun = None if event.execution_id is None else str(event.execution_id)
        if begun is not None and begun != self.execution_id:
            self.execution_id = begun
            self.output.note(self.say("progress-begun", id=begun))


ENGINES = ("inline", "ray")

A = TypeVar("A", bound=Executions)
Task: TypeAlias = Callable[[Session, A], Awaitable[int]]


def conduct(task: Task[Application], *, as_json: bool, language: str | None, engine: str | None = None) -> None:
    """Run a command that needs the application, and leave with its exit code."""

    def work(session: Session) -> int:
        return asyncio.run(_with(opener(), session, task))

    conduct_alone(work, as_json=as_json, language=language, engine=engine)


def conduct_executions(
    task: Task[Executions], *, as_json: bool, language: str | None, engine: str | None = None
) -> None:  # fmt: skip
    """Run a command that needs nothing of the application but executions, which are open sooner."""

    def work(session: Session) -> int:
        return asyncio.run(_with(executions_opener(), session, task))

    conduct_alone(work, as_json=as_json, language=language, engine=engine)


def conduct_alone(
    work: Callable[[Session], int], *, as_json: bool, language: str | None, engine: str | None = None
) -> None:
    """Run a command that needs the settings only, and leave with its exit code."""
    output = Output(say_in(language or "en"), language or "en", as_json=as_json)
    log = find_home({}, Path.cwd()) / FILE
    session: Session | None = None
    try:
        session = _start(output, as_json=as_json, language=language, engine=engine)
        output, log = session.output, start_logs(session.settings.log, session.settings.home)
        code = work(session)
    except KeyboardInterrupt:
        code = tell_interrupted(output, session.execution_id if session else None)
    except (AnswerNotWritten, BrokenPipeError):
        raise
    except Exception as raised:  # the last place before the user
        error = unwrap(raised)
        code = tell(error, output) if isinstance(error, SiliconError) else tell_unexpected(error, output, log)
    raise typer.Exit(int(code))


async def find_id(application: Executions, kind: type[AnyId], typed: str) -> AnyId:
    """Return the id that was typed in full or in part; one that was pruned is told to be gone."""
    try:
        return choose(kind, typed, await application.ids(kind))
    except UnknownId as unknown:
        if unknown.facts["count"]:
            raise
        try:
            gone = choose(kind, typed, await application.pruned_ids(kind))
        except UnknownId:
            raise unknown from None
        raise UnknownId(
            f"{gone} was pruned: it had ended longer ago than executions are kept here, and is gone for good.",
            typed=typed, kind=kind.KIND, count=0, pruned=str(gone), candidates=[],
        ) from None  # fmt: skip


def opener() -> OpenApplication:
    """Return what opens the application. It is imported here: nothing else of the command line costs as much."""
    return cast(OpenApplication, import_module("console.application").open_application)


def executions_opener() -> OpenExecutions:
    """Return what opens executions alone, imported here for the same reason."""
    return cast(OpenExecutions, import_module("console.executions").open_executions)


def _start(output: Output, *, as_json: bool, language: str | None, engine: str | None) -> Session:
    if language is not None and language not in LANGUAGES:
        raise InvalidArguments(f"--language: {language!r} is not one of {', '.join(LANGUAGES)}.", language=language)
    if engine is not None and engine not in ENGINES:
        raise InvalidArguments(f"--engine: {engine!r} is not one of {', '.join(ENGINES)}.", engine=engine)
    typed = {"language": language, "workforce.engine": engine}
    settings = load({name: value for name, value in typed.items() if value})
    register(secret.get_secret_value() for secret in settings.secrets())
    return Session(settings, Output(say_in(settings.language), settings.language, as_json=as_json))


async def _with(open_: Callable[[Settings], AbstractAsyncContextManager[A]], session: Session, task: Task[A]) -> int:
    settings = session.settings
    made = settings.source_of("home") == "home folder" and not settings.home.exists()
    try:
        async with open_(settings) as application:
            return await task(session, application)
    finally:
        if made and settings.home.is_dir():  # whoever stands in another folder than they think has to notice
            session.output.note(session.say("home-made", home=str(settings.home)))


__all__ = ["Exit", "Session", "conduct", "conduct_alone", "conduct_executions", "find_id"]
