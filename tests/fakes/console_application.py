"""An application that answers from memory, for tests of the faces: it remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from console.budgets import NO_BUDGET
from console.doctor import examine
from console.errors import SkillUnclear
from console.ports_executions import AnyId, Watch
from console.views import (
    CardStanding,
    CardState,
    CheckResult,
    ExecutionOutcome,
    ExecutionRow,
    ExecutionTree,
    Fault,
    ModelAsked,
    RunOptions,
    Submitted,
)
from console.views_cluster import HostsRow, QueuedOrder
from console.views_sensors import SensorFailure
from console.views_system import AuditFinding, AuditResult, DatabaseStatus, Examined, Health
from contracts import (
    CardId,
    Decision,
    DecisionId,
    Event,
    ExecutionId,
    Id,
    Json,
    Notification,
    OrderId,
    OrderState,
    Outcome,
    Question,
    QuestionId,
    TokenId,
)
from governance.access import BridgeRights, Token
from runtime.errors import BusinessRefusal, NotFound, SiliconError
from runtime.keeping import BackupMade, Exported, Hold, Imported, Pruned, Restored
from runtime.ledger.port import AuditFault, Fragment
from runtime.settings.load import Settings
from tests.fakes.console_values import (
    CARD,
    EXECUTION,
    HASH,
    NOW,
    QUESTION,
    ROOT,
    TOKEN,
    a_notification,
    a_question,
    a_token,
    events,
    outcome,
    standing,
    tree,
)
from tests.fakes.console_watching import FakeWatching


@dataclass
class FakeApplication(FakeWatching):
    """Answers with what its fields hold; `asked` is the list of calls."""

    outcome: ExecutionOutcome = field(default_factory=outcome)
    after_decision: CardStanding = field(
        default_factory=lambda: standing(
            state=CardState.CLOSED, outcome=Outcome.APPROVED, option="waive", deadline=None
        )
    )
    faults: tuple[Fault, ...] = ()
    failed_sensors: tuple[SensorFailure, ...] = ()
    audit: tuple[AuditFinding, ...] = ()
    pruned: int = 0
    gone: tuple[str, ...] = ()
    """Executions that were pruned."""
    faults_in_copy: tuple[AuditFault, ...] = ()
    standing_holds: tuple[Hold, ...] = ()
    database_status: DatabaseStatus = field(
        default_factory=lambda: DatabaseStatus("sqlite:///home/silicon.db", "0006", "0006")
    )
    queued: tuple[QueuedOrder, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    open_cards: tuple[CardStanding, ...] = field(default_factory=lambda: (standing(),))
    refusal: SiliconError | None = None
    """Raised by `may_decide`, `submit`, `request_resume` and `request_cancel`."""
    broken: bool = False
    raises: BaseException | None = None
    """Raised by `run`, `resume` and `go_on` after the first event."""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    settings: Settings = field(init=False)

    @asynccontextmanager
    async def __call__(self, settings: Settings) -> AsyncIterator[FakeApplication]:
        self.settings = settings
        self.asked.append(("open", settings))
        yield self
        self.asked.append(("close", None))

    async def check(self, folder: Path) -> CheckResult:
        return CheckResult(folder, "three-airports", self.faults, {"employees": 11, "skills": 5, "people": 1})

    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        self.asked.append(("run", (folder, options)))
        if options.goal == "nonsense":
            raise SkillUnclear(
                "No skill fits the goal. There are: explain-cancellations.", skills=["explain-cancellations"]
            )
        return await self._carry_out(watch)

    async def submit(self, folder: Path, options: RunOptions) -> Submitted:
        self.asked.append(("submit", (folder, options)))
        if self.refusal is not None:
            raise self.refusal
        return Submitted(EXECUTION, repeated=self.outcome.repeated)

    async def resume(
        self, execution_id: ExecutionId, *, watch: Watch, by: str | None = None, budget: Mapping[str, str] = NO_BUDGET
    ) -> ExecutionOutcome:
        self.asked.append(("resume", (execution_id, by, budget) if budget else execution_id))
        return await self._carry_out(watch)

    async def go_on(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        self.asked.append(("go_on", execution_id))
        return await self._carry_out(watch)

    async def _carry_out(self, watch: Watch) -> ExecutionOutcome:
        for event in events():
            watch(event)
            await asyncio.sleep(0)
            if self.raises is not None:
                raise self.raises
        return self.outcome

    async def request_resume(
        self, execution_id: ExecutionId, *, by: str | None, budget: Mapping[str, str] = NO_BUDGET
    ) -> None:
        self.asked.append(("request_resume", (execution_id, by, *([budget] if budget else []))))
        if self.refusal is not None:
            raise self.refusal

    async def request_cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> None:
        self.asked.append(("request_cancel", (execution_id, by, *([branch] if branch else []))))
        if self.refusal is not None:
            raise self.refusal

    async def home_of(self, organisation: str) -> Path:
        return Path("/organisations") / organisation

    async def cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> ExecutionOutcome:
        self.asked.append(("cancel", (by, branch) if branch else by))
        return self.outcome

    async def executions(self, *, organisation: str | None, limit: int) -> Sequence[ExecutionRow]:
        row = ExecutionRow(
            EXECUTION,
            "three-airports",
            "Why were so many flights cancelled?",
            None,
            OrderState.WAITING,
            "duty-planner",
            NOW,
            4.2,
            (str(CARD),),
        )
        if self.gone or organisation not in (None, "three-airports"):
            return []
        running = replace(row, state=OrderState.RUNNING, held=bool(self.queued), queued=self.queued)
        return [row, running][:limit]

    def hosts_awaited(self) -> HostsRow | None:
        return None

    async def models_asked(self, *orders: str) -> Sequence[ModelAsked]:
        return ()

    async def streamed(self, execution_id: ExecutionId | None) -> AsyncIterator[Fragment]:
        for fragment in self.fragments:
            yield fragment
        await asyncio.Event().wait()

    async def queued_orders(self, *executions: ExecutionId) -> Sequence[QueuedOrder]:
        return self.queued

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        return tree()

    async def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncIterator[Event]:
        for event in events():
            if event.position > after:
                yield event

    async def horizon(self) -> int:
        return len(self.gone)

    async def pruned_ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        return [kind(each) for each in self.gone if kind is ExecutionId]

    async def ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        known: dict[type[Id], Id] = {ExecutionId: EXECUTION, OrderId: ROOT, CardId: CARD, QuestionId: QUESTION}
        known[TokenId] = TOKEN
        return [kind(known[kind])]

    async def create_token(
        self, name: str, *, folder: Path | None, person: str | None, within_s: float | None = None
    ) -> tuple[Token, str]:
        self.asked.append(("create_token", (name, folder, person)))
        organisation = None if folder is None else "three-airports"
        return replace(a_token(), name=name, organisation=organisation, person=person), "silicon_text"

    async def create_bridge_token(
        self, name: str, *, folders: Sequence[Path], labels: Sequence[str]
    ) -> tuple[Token, str]:  # fmt: skip
        self.asked.append(("create_bridge_token", (name, list(folders), list(labels))))
        rights = BridgeRights(("corner-shop",), tuple(labels))
        return replace(a_token(), name=name, organisation=None, person=None, bridge=rights), "silicon_text"

    async def tokens(self) -> Sequence[Token]:
        return [a_token(), replace(a_token(), name="old", organisation=None, person=None, revoked_at=NOW)]

    async def revoke_token(self, token_id: TokenId) -> Token:
        self.asked.append(("revoke_token", token_id))
        return replace(a_token(), revoked_at=NOW)

    async def back_up(self, path: Path) -> BackupMade:
        return BackupMade(path, 1_234, 5_678, 3 * 1024 * 1024, self.faults_in_copy)

    async def restore(self, path: Path) -> Restored:
        return Restored("/home/x/.silicon/silicon.db", path, 1_234, 5_678)

    async def prune(self, *, days: float | None, dry: bool, compact: bool) -> Pruned:
        self.asked.append(("prune", (days, dry, compact)))
        return Pruned((EXECUTION,), 7, 99, 2, 2048, 40, held=(EXECUTION,), in_use=(EXECUTION,), free_bytes=4096)

    async def holds(self) -> Sequence[Hold]:
        return self.standing_holds

    async def hold(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        self.asked.append(("hold", (execution_id, reason, by)))
        return Hold(execution_id, "three-airports", reason, by or "duty-planner", NOW)

    async def release(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        self.asked.append(("release", (execution_id, reason, by)))
        return Hold(execution_id, "three-airports", "case 7", "duty-manager", NOW)

    async def export_execution(self, execution_id: ExecutionId, path: Path) -> Exported:
        return Exported(path, execution_id, 99, 3, 2048, HASH)

    async def import_execution(self, path: Path) -> Imported:
        return Imported(path, EXECUTION, "three-airports", 99, 3, HASH, 1_235)

    async def execution_of(self, order_or_card: Id) -> ExecutionId:
        return EXECUTION

    async def cards(
        self, *, all_: bool, organisation: str | None = None, after: CardId | None = None, limit: int | None = None
    ) -> Sequence[CardStanding]:
        return self.open_cards

    async def card(self, card_id: CardId) -> CardStanding:
        if not self.open_cards:
            raise NotFound(f"There is no card {card_id}.", card=str(card_id))
        return self.open_cards[0]

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def decide(
        self,
        card_id: CardId,
        *,
        option: str | None,
        reason: str,
        by: str | None,
        output: Mapping[str, Json] | None = None,
        via: str | None = None,
        shown_sha256: str | None = None,
    ) -> CardStanding:
        self.asked.append(("decide", (option, reason, by, *([output] if output is not None else []))))
        if self.open_cards[0].state is CardState.CLOSED:
            raise BusinessRefusal("The card was approved by duty-manager before.", outcome="approved")
        decision = Decision(
            decision_id=DecisionId.new(),
            card_id=card_id,
            card_sha256=HASH,
            approve=option is not None,
            option=option,
            reason=reason,
            by=by or "duty-manager",
            at=NOW,
            via="cli",
        )
        return replace(self.after_decision, decisions=(decision,))

    async def questions(self, *, organisation: str | None = None) -> Sequence[Question]:
        return [a_question()]

    async def notifications(
        self, *, organisation: str | None = None, person: str | None = None, limit: int = 20, sees: object = None
    ) -> Sequence[Notification]:
        self.asked.append(("notifications", person))
        return [a_notification()] if person in (None, "morgan") else []

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        self.asked.append(("answer", value))
        return EXECUTION

    async def verify(self) -> AuditResult:
        return AuditResult(1234, self.audit, self.pruned)

    async def database(self) -> DatabaseStatus:
        return self.database_status

    async def upgrade(self) -> DatabaseStatus:
        return replace(self.database_status, revision=self.database_status.newest)

    async def doctor(self, folder: Path | None) -> Sequence[Examined]:
        if self.broken:
            return [Examined("database", Health.BROKEN, "it is locked", "Stop the other program.")]
        return [*examine(self.settings), Examined("sandbox", Health.NOTE, "rlimits; cannot enforce: network")]
