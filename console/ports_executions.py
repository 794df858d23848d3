"""What a face needs of executions and of the people they wait for; part of the port `Application`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from console.budgets import NO_BUDGET
from console.views import (
    CardStanding,
    CheckResult,
    ExecutionOutcome,
    ExecutionRow,
    ExecutionTree,
    ModelAsked,
    RunOptions,
    Submitted,
)
from console.views_cluster import HostsRow, QueuedOrder
from contracts import CardId, Event, ExecutionId, Id, Json, Notification, Question, QuestionId
from runtime.ledger.port import Fragment
from runtime.settings.load import Settings

AnyId = TypeVar("AnyId", bound=Id)

SeesMessage: TypeAlias = Callable[[Notification], Awaitable[bool]]
"""Whether whoever looks may see what people were told."""

Watch: TypeAlias = Callable[[Event], None]
"""Called on the event loop with each committed event of an execution, in order of position, none twice.

What was there before the call is not told; `events` gives that."""


class Executions(Protocol):
    """Work handed to organisations, and what people are asked about it. What is said of `Application` holds here."""

    # organisations
    async def check(self, folder: Path) -> CheckResult:
        """Read the folder and return all its faults; runs nothing."""
        ...

    # executions
    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        """Run a goal until it is done, failed or waits for a person.

        Raises:
            OrganisationFaulty: the folder has faults (`faults` in the facts, as in `check`).
            SkillUnclear: no skill fits the goal, or several do; the facts list them.
            InvalidArguments: parameters are missing or do not fit, nobody is called that.
        """
        ...

    async def submit(self, folder: Path, options: RunOptions) -> Submitted:
        """Record a goal and return its execution; nothing runs here. A server that has the ledger takes it up.

        When this returns, the request and the organisation as it stands now are stored. The same idempotency key is the
        same execution, also for two that ask at once.

        Raises:
            OrganisationFaulty, SkillUnclear, InvalidArguments: as `run`; nothing was recorded.
            PermissionRefused: that person may only look.
            KeyInUse: the key stands for another request.
        """
        ...

    async def resume(
        self, execution_id: ExecutionId, *, watch: Watch, by: str | None = None, budget: Mapping[str, str] = NO_BUDGET
    ) -> ExecutionOutcome:
        """Go on where it stood; an execution that is done or cancelled is returned as it is.

        With `budget` that is first recorded, by that person, as in `request_resume`.

        Raises:
            ExecutionBusy: another process runs it now.
            BudgetRefused: as `request_resume`.
            PermissionRefused, NobodyActs: that person may only look, or there is no such person.
        """
        ...

    async def go_on(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Go on like `resume` with what was just decided or answered: whoever may do that needs no other right.

        Raises:
            ExecutionBusy: another process runs it now.
        """
        ...

    async def request_resume(
        self, execution_id: ExecutionId, *, by: str | None, budget: Mapping[str, str] = NO_BUDGET
    ) -> None:  # fmt: skip
        """Record that an execution which failed or reached a limit is to go on; nothing runs here.

        Others stay as they are. The limits of `budget` (as in `RunOptions`) hold from then on in place of its own.

        Raises:
            BudgetRefused: a budget for one that did not stop at a failure or limit, or no more than was used already.
            NotFound: there is no such execution.
            PermissionRefused: that person may only look.
            OrganisationFaulty: what it was started with cannot be used here any more, for example its data is gone.
        """
        ...

    async def request_cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> None:
        """Record that the execution is to stop; whoever works on it, or the next server, stops it and all below it.

        With `branch` only that branch of a parallel group is to stop, named by its path (`look/first`).

        Raises:
            NotFound: there is no such execution, or no such branch in it.
            PermissionRefused: that person may only look.
        """
        ...

    async def home_of(self, organisation: str) -> Path:
        """Return the folder of an organisation: one that this server was given, else that of its newest execution.

        Raises:
            NotFound: nothing of that name was ever run from here.
        """
        ...

    async def cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> ExecutionOutcome:
        """Cancel the execution and everything below it; where another process runs it, that one is told.

        With `branch` only that branch of a parallel group ends, with all below it; the rest goes on.
        """
        ...

    async def executions(self, *, organisation: str | None, limit: int) -> Sequence[ExecutionRow]:
        """Return executions, newest first."""
        ...

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        """Return the tree of orders with every step."""
        ...

    async def queued_orders(self, *executions: ExecutionId) -> Sequence[QueuedOrder]:
        """Return the orders of these executions that wait for a slot, and why; of each the first twenty in line."""
        ...

    async def models_asked(self, *orders: str) -> Sequence[ModelAsked]:
        """Return the newest sign of life of each step of these orders whose request to a model took its time.

        A sign that a later event of the step has overtaken is among them.
        """
        ...

    def hosts_awaited(self) -> HostsRow | None:
        """Return that hosts of employees of this process do not start so far; None where they do, or none is needed."""
        ...

    def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncGenerator[Event, None]:
        """Give events with a position greater than `after`, of one execution or of all.

        With `follow` it goes on with what is committed later, by any process, until the execution has ended.
        """
        ...

    def streamed(self, execution_id: ExecutionId | None) -> AsyncGenerator[Fragment, None]:
        """Give what is only streamed and no event of the ledger, of one execution or of all, from now on, for ever."""
        ...

    async def horizon(self) -> int:
        """Return the greatest position at or below which events may have been pruned; 0 for none."""
        ...

    async def ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        """Return all ids of one kind (ExecutionId, OrderId, CardId, QuestionId) in the ledger, oldest first."""
        ...

    async def pruned_ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        """Return all ids of one kind that were pruned from the ledger, oldest first."""
        ...

    async def execution_of(self, order_or_card: Id) -> ExecutionId:
        """Return the execution that an order, card or question belongs to; raise NotFound when there is none."""
        ...

    # people
    async def cards(
        self, *, all_: bool, organisation: str | None = None, after: CardId | None = None, limit: int | None = None
    ) -> Sequence[CardStanding]:
        """Return open cards, the nearest deadline first, or with `all_` all cards, newest first.

        With `after` those behind that card, with `limit` no more than that. It costs what it returns.
        """
        ...

    async def card(self, card_id: CardId) -> CardStanding:
        """Return one card; raise NotFound when there is none."""
        ...

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        """Return when this person may decide the card as it stands now; writes nothing.

        Raises:
            NotAllowedToDecide, CardClosed, InvalidArguments: as `decide` would.
        """
        ...

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
        """Write a decision, a no when `option` is None, and return how the card stands; carries nothing out.

        With `output` the person tells what an effect in doubt gave that happened. `via` says from where the decision
        comes; absent, from this machine's command line. `shown_sha256` is the hash of the card that was shown, where
        that is known: a card that was edited since is not decided by it.

        Raises:
            InvalidArguments: the card has no such option, nobody is called that, or the output does not fit.
            PermissionRefused: that person may not decide it.
            BusinessRefusal: the card was decided already, is expired or withdrawn; the facts say which.
        """
        ...

    async def questions(self, *, organisation: str | None = None) -> Sequence[Question]:
        """Return open questions, of one organisation or of all, oldest first."""
        ...

    async def notifications(
        self,
        *,
        organisation: str | None = None,
        person: str | None = None,
        limit: int = 20,
        sees: SeesMessage | None = None,
    ) -> Sequence[Notification]:
        """Return what people were told and need not answer, newest first; of it what `sees` lets be seen."""
        ...

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        """Write the answer and return the execution that waits for it; carries nothing out.

        Raises:
            InvalidArguments: the question allows other answers only.
            PermissionRefused: somebody else was asked.
            BusinessRefusal: it was answered already or is expired.
        """
        ...


class OpenExecutions(Protocol):
    """How a face gets these alone: `console.executions.open_executions`."""

    def __call__(self, settings: Settings) -> AbstractAsyncContextManager[Executions]:
        """Return them; leaving the context closes what they opened."""
        ...
