"""A lease as its holder feels it, also after the process stood still."""

from __future__ import annotations

import pytest

from runtime.errors import StaleWriter
from runtime.ledger.grip import Grip, boot_s

pytestmark = pytest.mark.anyio


class Lease:
    """A lease of ten seconds that a test takes away, and a clock that it moves."""

    def __init__(self) -> None:
        self.now, self.renewed, self.lost = 100.0, 0, False
        self.grip = Grip(10, self._renew, now=lambda: self.now)

    async def _renew(self) -> float:
        if self.lost:
            raise StaleWriter("Somebody else has it.")
        self.renewed += 1
        return 10


async def test_a_lease_that_surely_runs_is_not_asked_for() -> None:
    lease = Lease()
    lease.now += 9
    await lease.grip.still_held()

    assert lease.renewed == 0


async def test_after_standing_still_the_lease_is_renewed_before_anything_is_done() -> None:
    lease = Lease()
    lease.now += 3_600
    await lease.grip.still_held()

    assert lease.renewed == 1
    assert lease.grip.left_s == 10


async def test_who_lost_the_lease_while_standing_still_does_nothing() -> None:
    lease = Lease()
    lease.now += 3_600
    lease.lost = True

    with pytest.raises(StaleWriter):
        await lease.grip.still_held()


async def test_a_renewal_counts_from_when_it_was_asked_for() -> None:
    lease = Lease()

    async def slow() -> float:
        lease.now += 4
        return 10

    grip = Grip(10, slow, now=lambda: lease.now)
    await grip.renew()

    assert grip.left_s == 6


def test_the_clock_goes_on() -> None:
    assert boot_s() <= boot_s()
