"""What an order may still spend: reserved before it is spent, settled by what was spent, returned otherwise.

The truth is the order's own stream. What was spent is the sum of its events; what is set aside beyond this process is
the grant of an order below (`step.dispatched`, `budget.granted`) and the price of a call that was announced
(`budget.reserved`, `effect.intended`). An order has one writer, on one event loop, so that looking what is free and
setting it aside is one thing as long as nothing is awaited in between; what is set aside only here, a crash returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from contracts import Budget, Limit
from runtime.engine.amounts import NONE, SMALLEST, Amounts, amounts_of, in_currency, rounded, spent_of
from runtime.engine.budget import exceeded
from runtime.engine.flow import Flow
from runtime.engine.outcome import Stop
from runtime.engine.view import OrderView, Unit
from runtime.errors import BudgetExceeded

_Key = tuple[str, int | None, str]
"""A unit, and which part of it; the empty text for the unit itself."""

Short = Callable[[Limit, Decimal, Decimal], BudgetExceeded]
"""Makes the error of a limit of which so much is needed and so much is free."""

OWN = "own"
"""Under this name a unit holds what it takes whatever it does."""
BELOW = "below"
"""Under this name a unit holds the grant of the order that it became."""
_ZERO = Decimal(0)
_LEAST: Amounts = {limit: SMALLEST[limit] for limit in (Limit.STEPS, Limit.SECONDS)}
"""Without a step or any time an order cannot begin; without tokens and money it can do what takes none."""


@dataclass(slots=True, eq=False)
class _Held:
    """What one unit has set aside."""

    parts: dict[str, Amounts] = field(default_factory=dict)
    """By what it is for: the unit's own step, one call, the order below."""
    resting: bool = False
    """Whether nothing of it comes back before somebody else moves: it waits for people, or for what others return."""

    def of(self, limit: Limit) -> Decimal:
        """Return how much of one limit is set aside."""
        return sum((part.get(limit, _ZERO) for part in self.parts.values()), _ZERO)


class Account:
    """The budget of one order while it is being carried out.

    Args:
        stopping: whether nothing may begin any more where this step stands, so that it does not go on waiting for what
            others return.
        promised: what the plan keeps for steps that have not begun, apart from the step that asks and from those to
            which the second argument says that they have their share.
    """

    def __init__(
        self, budget: Budget, view: OrderView, *, flow: Flow, stopping: Callable[[str], bool],
        promised: Callable[[str, Callable[[str], bool]], Amounts],
    ) -> None:  # fmt: skip
        self.budget = budget
        self.currency = budget.money.currency if budget.money else None
        self.limits = amounts_of(budget)
        self._view = view
        self._flow = flow
        self._stopping = stopping
        self._promised = promised
        self._held: dict[_Key, _Held] = {}
        self._total = dict.fromkeys(self.limits, _ZERO)
        """What all units together have set aside."""
        self._waiting: list[asyncio.Future[None]] = []
        self._due: set[_Key] = set()
        """What held something when an earlier stretch ended, and has not come to its end in this one."""
        if self.limits:
            for unit in view.units.values():
                for holder in unit.holders:
                    self._go_on(holder)

    @property
    def counts_money(self) -> bool:
        """Whether money is limited, so that nothing may be called whose price nobody knows."""
        return Limit.MONEY in self.limits

    def free(self, limit: Limit) -> Decimal:
        """Return what is neither spent nor set aside; below zero where more was spent than there was."""
        return self.limits[limit] - spent_of(self._view.usage, self.budget)[limit] - self._total[limit]

    async def take(self, unit: Unit, parts: Mapping[str, Amounts]) -> None:
        """Set aside exactly these amounts for the unit, each under what it is for, once all of them are free.

        It waits as long as others hold what is missing and may return some of it. What a unit needs is taken at once:
        two that each held half of it would keep each other from beginning.

        Raises:
            BudgetExceeded: they are not free, and nobody will return any.
            Stop: the order is stopping.
        """
        if not self.limits:
            return
        held = self._of(unit)
        needed, had = _sum(parts.values()), _sum(held.parts.get(what, NONE) for what in parts)
        while (lacking := self._lacking(needed, had)) is not None:  # nobody else may take meanwhile what it had
            free = self.free(lacking) + had.get(lacking, _ZERO)
            await self._returned(unit, lacking, partial(self._exceeded, lacking, needed[lacking], free))
        for what, amounts in parts.items():
            self._set(held, what, amounts)
        held.resting = False

    def has(self, unit: Unit, what: str) -> bool:
        """Whether the unit has anything set aside under `what`."""
        held = self._held.get(_key(unit))
        return held is not None and bool(held.parts.get(what))

    def give_back(self, unit: Unit, what: str) -> None:
        """Return what the unit set aside under `what`: it was settled, or nothing came of it."""
        held = self._held.get(_key(unit))
        if held is not None and what in held.parts:
            self._set(held, what, None)
            self.wake()

    def end(self, unit: Unit, *, comes_back: bool = False) -> None:
        """Return everything that the unit and its parts set aside, apart from what events say is still out.

        Args:
            comes_back: that is returned too before long, by whoever ends the unit again, so that others wait for it.
        """
        if not self.limits and not self._held:
            return
        for holder in unit.holders:
            self._end(holder, comes_back=comes_back)
        self.wake()

    def _end(self, holder: Unit, *, comes_back: bool) -> None:
        self._due.discard(_key(holder))
        held = self._held.pop(_key(holder), None)
        for what in list(held.parts) if held is not None else ():
            self._set(held, what, None)  # type: ignore[arg-type]
        for what, amounts in self._out(holder).items():
            held = self._of(holder)
            held.resting = not comes_back
            self._set(held, what, amounts)

    def rest(self, unit: Unit) -> None:
        """Let nobody wait for what the unit itself holds: it waits for its parts, which hold what may come back."""
        if self.limits and not (held := self._of(unit)).resting:
            held.resting = True
            self.wake()

    def go_on(self, unit: Unit) -> None:
        """Let others wait for the unit again."""
        if self.limits:
            self._of(unit).resting = False

    def passed_over(self, steps: Iterable[str], index: int | None, *, comes_back: bool = False) -> None:
        """End what of these steps, or of this repetition of them, is not gone on with now."""
        if self._due:
            names = set(steps)
            for key in [key for key in self._due if key[0] in names and index in (None, key[1])]:
                self.end(self._view.units[key[:2]], comes_back=comes_back)

    def wake(self) -> None:
        """Let everybody who waits look again."""
        waiting, self._waiting = self._waiting, []
        for told in waiting:
            if not told.done():
                told.set_result(None)

    async def grant(
        self, unit: Unit, *, unsettled: Amounts = NONE, share: Callable[[], Amounts] = dict, needs: Amounts = NONE,
        short: Short | None = None,
    ) -> dict[Limit, Decimal]:  # fmt: skip
        """Set aside what an order below may spend from now on, and return it; empty where nothing limits it.

        That is the step's own share where the plan gives it one, and else an equal part of what is free for each that
        may still run at once. It is not less than `needs`; for that it waits like `take`.

        Args:
            unsettled: what the order spent already that no event of this order tells; it stays set aside meanwhile.
            share: tells what is left of the step's share, each time it is looked at.
            short: makes the error of a share of which too little is left.
        """
        held = self._of(unit)
        self._set(held, BELOW, unsettled)
        held.resting = held.resting or bool(unsettled)  # it stopped at a limit: others need not wait for it
        while True:
            left = share()
            granted = {limit: self._part(held, unit, limit, left, needs) for limit in (*self.limits, *left)}
            least = {limit: max(needs.get(limit, _ZERO), _LEAST.get(limit, _ZERO)) for limit in granted}
            lacking = next((limit for limit, some in granted.items() if some < least[limit]), None)
            if lacking is None:
                break
            of_share = lacking in left and left[lacking] < least[lacking]
            error = short if short is not None and of_share else self._exceeded
            await self._returned(unit, lacking, partial(error, lacking, least[lacking], granted[lacking]))
        self._set(held, BELOW, {limit: some + unsettled.get(limit, _ZERO) for limit, some in granted.items()})
        held.resting = False
        return granted

    def beside(self, unit: Unit, limit: Limit) -> Decimal:
        """Return how much of one limit the other parts of the unit have for orders below, limited here or not."""
        own, others = _key(unit), self._held.items()
        found = [held.parts.get(BELOW, NONE) for key, held in others if key[:2] == own[:2] and key != own]
        return sum((part.get(limit, _ZERO) for part in found), _ZERO)

    def _part(self, held: _Held, unit: Unit, limit: Limit, share: Amounts, needs: Amounts) -> Decimal:
        """Return how much of one limit an order below gets."""
        if limit not in self.limits:
            return share[limit]
        free = self.free(limit) - self._promised(unit.step, self._is_granted).get(limit, _ZERO)
        if limit in share:
            return max(min(free, share[limit]), _ZERO)
        active = sum(not other.resting for other in self._held.values() if other is not held)
        equal = rounded(limit, free / max(1, self._flow.beside - active))
        return max(min(free, max(equal, needs.get(limit, _ZERO), SMALLEST[limit])), _ZERO)

    def _rests(self, key: _Key) -> bool:
        """Whether nothing comes back of what is held there; the order of a call goes on only after its unit began."""
        whole = self._held.get((*key[:2], ""))
        return self._held[key].resting or (whole is not None and whole.resting and OWN not in whole.parts)

    def _is_granted(self, step: str) -> bool:
        """Whether an order below has what the step of it sets aside."""
        held = self._held.get((step, None, ""))
        return held is not None and bool(held.parts.get(BELOW))

    def _lacking(self, needed: Amounts, had: Amounts) -> Limit | None:
        limited = ((limit, some - had.get(limit, _ZERO)) for limit, some in needed.items() if limit in self.limits)
        return next((limit for limit, some in limited if self.free(limit) < some), None)

    def _exceeded(self, limit: Limit, needed: Decimal, free: Decimal) -> BudgetExceeded:
        return exceeded(self.budget, self._view.usage, limit, needed=needed, free=free)

    async def _returned(self, unit: Unit, limit: Limit, error: Callable[[], BudgetExceeded]) -> None:
        """Wait until something of the limit may have been returned; raise the error when nobody will."""
        own = self._of(unit)
        if self._stopping(unit.step):
            raise Stop
        if not own.resting:
            own.resting = True
            self.wake()  # whoever waits for this one looks for another
        if not any(held.of(limit) for key, held in self._held.items() if held is not own and not self._rests(key)):
            raise error()
        told = asyncio.get_running_loop().create_future()
        self._waiting.append(told)
        await told
        if self._stopping(unit.step):
            raise Stop

    def _go_on(self, unit: Unit) -> None:
        """Set aside what the unit's events say is out; others wait for it, since it goes on before they begin."""
        for what, amounts in self._out(unit).items():
            self._set(self._of(unit), what, amounts)
            self._due.add(_key(unit))

    def _of(self, unit: Unit) -> _Held:
        return self._held.setdefault(_key(unit), _Held())

    def _set(self, held: _Held, what: str, amounts: Amounts | None) -> None:
        """Put these amounts in the place of what is held under `what`."""
        for limit, some in held.parts.pop(what, NONE).items():
            if limit in self.limits:
                self._total[limit] -= some
        if amounts is not None:
            held.parts[what] = amounts
            for limit, some in amounts.items():
                if limit in self.limits:
                    self._total[limit] += some

    def _out(self, unit: Unit) -> dict[str, Amounts]:
        """Return what the unit's events say is set aside and not settled."""
        if unit.state.settled:
            return {}
        parts: dict[str, Amounts] = {}
        if unit.child is not None and unit.granted is not None:
            counted = spent_of(unit.child.counted, unit.granted)
            granted = amounts_of(unit.granted)
            parts[BELOW] = {limit: max(some - counted[limit], _ZERO) for limit, some in granted.items()}
        if self.currency is not None:
            parts |= {what: {Limit.MONEY: in_currency(money, self.currency)} for what, money in unit.reserved.items()}
        return parts


def _key(unit: Unit) -> _Key:
    return unit.step, unit.index, unit.call


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: dict[Limit, Decimal] = {}
    for amounts in parts:
        for limit, some in amounts.items():
            total[limit] = total.get(limit, _ZERO) + some
    return total
