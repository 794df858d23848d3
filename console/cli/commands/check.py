"""`silicon check`: the faults of an organisation folder, before anything runs."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation, command
from console.cli.output import Output
from console.cli.session import Session, conduct_executions
from console.ports_executions import Executions
from console.views import CheckResult, Fault

app = command()


@app.command()
def check(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """Find the faults of an organisation folder that its files show, with file and line; nothing is run."""

    async def work(session: Session, executions: Executions) -> int:
        result = await executions.check(Path(organisation))
        session.output.data(result)
        show_result(result, session.output)
        return Exit.FAILED if result.faults else Exit.DONE

    conduct_executions(work, as_json=as_json, language=language)


def show_result(result: CheckResult, output: Output) -> None:
    """Write the faults, or what was read."""
    say = output.say
    for fault in result.faults:
        output.show(*fault_lines(fault))
    if result.faults:
        output.show(Text.assemble(("✗ ", "red"), say("check-faults", count=len(result.faults))))
        return
    counts = [say(f"check-count-{name}", count=count) for name, count in result.counts.items() if count]
    output.show(
        Text.assemble(("✓ ", "green"), say("check-good", organisation=result.organisation or str(result.folder)))
    )
    if counts:
        output.show(Text(f"  {' · '.join(counts)}", style="dim"))


def fault_lines(fault: Fault) -> list[Text]:
    """Return a fault: where, what, and below it how to mend it."""
    where = f"{fault.file}:{fault.line}" if fault.line is not None else fault.file
    lines = [Text.assemble((where, "bold"), "  ", fault.what)]
    lines += [Text(f"  {line}", style="dim") for line in fault.hint.splitlines()]
    return lines
