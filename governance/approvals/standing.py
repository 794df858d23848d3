"""What experience says of a kind of action: a looser mode that a person approved, or a serious error since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts import ApprovalMode, CapabilityName, CardId, Event, Name
from governance.approvals.modes import AS_DECLARED, Standing
from runtime.ledger.port import Append, Ledger, NewEvent

PROPOSED, LOOSENED, SET_BACK = "standing.proposed", "standing.loosened", "standing.set_back"

NEXT_LOOSER: Mapping[ApprovalMode, ApprovalMode] = {
    ApprovalMode.STRICT: ApprovalMode.THRESHOLD,
    ApprovalMode.THRESHOLD: ApprovalMode.POST_HOC,
}


def standing_stream(organisation: Name, use: CapabilityName) -> str:
    """Return the stream of a kind of action: a capability in an organisation."""
    return f"standing/{organisation}/{use}"


def fold_standing(events: Sequence[Event]) -> Standing:
    """Return what holds after the events; a serious error ends what was loosened before it."""
    standing = AS_DECLARED
    for event in events:
        if event.type == SET_BACK:
            standing = Standing(set_back=True)
        elif event.type == LOOSENED and event.data is not None:
            standing = Standing(ApprovalMode(str(event.data["to"])), over=ApprovalMode(str(event.data["over"])))
    return standing


class Standings:
    """What experience says of the kinds of actions of one organisation. Their streams are short: errors are rare."""

    def __init__(self, ledger: Ledger, organisation: Name) -> None:
        self._ledger = ledger
        self._organisation = organisation

    async def of(self, use: CapabilityName) -> Standing:
        """Return what holds for a capability now."""
        return fold_standing(await self._ledger.read(standing_stream(self._organisation, use)))

    async def erred_since(self, use: CapabilityName, proposed_on: CardId) -> bool:
        """Whether a serious error was made after that card proposed a looser mode."""
        proposed = False
        for event in await self._ledger.read(standing_stream(self._organisation, use)):
            if event.type == PROPOSED and event.data is not None and event.data.get("card") == str(proposed_on):
                proposed = True
            elif event.type == SET_BACK and proposed:
                return True
        return False

    async def append(self, use: CapabilityName, type_: str, **facts: str) -> Append:
        """Return the append of something new about it, where its stream stands now."""
        stream = standing_stream(self._organisation, use)
        return Append(
            stream, (NewEvent(type_, facts),), len(await self._ledger.read(stream)), self._organisation,
            f"/organisation/{self._organisation}/approvals",
        )  # fmt: skip
