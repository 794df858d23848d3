"""`silicon audit`: whether the ledger is as it was written."""

from __future__ import annotations

from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.session import Session, conduct
from console.ports import Application

app = command("Verify that the ledger was not altered.")


@app.callback()
def audit() -> None:
    """Verify that the ledger was not altered."""


@app.command()
def verify(language: Language = None, as_json: AsJson = False) -> None:
    """Check every chain, payload and stored blob. Each row that does not fit is named."""

    async def work(session: Session, application: Application) -> int:
        result = await application.verify()
        output, say = session.output, session.say
        output.data(
            {"events": result.events, "pruned": result.pruned, "clean": not result.faults, "faults": result.faults}
        )
        for fault in result.faults:
            place = fault.stream or say("audit-ledger")
            if fault.version:
                place = say("audit-place", stream=fault.stream, version=fault.version)
            output.show(Text.assemble((place, "bold"), "  ", fault.what))
        if result.faults:
            output.show(Text.assemble(("✗ ", "red"), say("audit-faults", count=len(result.faults))))
            return Exit.FAILED
        output.show(Text.assemble(("✓ ", "green"), say("audit-clean", events=result.events, pruned=result.pruned)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
