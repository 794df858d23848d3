"""People are told by their channels under a server, apart from everything else that it does."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from agents.organisation import read_told
from console.resources import Resources
from console.running import Running
from console.texts import say_in
from contracts import Name
from governance.channels.courier import Courier
from governance.channels.mail import MailSender
from governance.channels.told import Told
from governance.channels.webhook import WebhookSender
from runtime.capabilities.secrets import Secrets
from runtime.errors import LedgerError, NotFound, OrganisationFaulty, SiliconError, StaleWriter
from runtime.executor.holder import this_process
from runtime.ledger.port import Lease, Leases, Ledger

LEASE = "channels"
LEASE_S = 60.0
"""Longer than a step takes; of several servers only the one that holds it tells people."""

_log = logging.getLogger(__name__)


class ToldByFolder:
    """Organisations as their folders say now; where one cannot be read for a while, as it was read before."""

    def __init__(self, resources: Resources, given: dict[str, Path]) -> None:
        self._running = Running(resources)
        self._given = given
        self._read: dict[Name, Told] = {}

    async def told(self, organisation: Name) -> Told | None:
        """Return an organisation; None for one that this server does not work for, or that is not here."""
        if self._given and organisation not in self._given:
            return None
        try:
            self._read[organisation] = read_told(await self._running.home_of(organisation))
        except NotFound:
            return None
        except OrganisationFaulty:
            if organisation not in self._read:
                raise  # nothing is passed over: it is looked at again
            _log.warning("%s is told as its folder was before it became faulty", organisation)
        return self._read[organisation]


def courier_of(resources: Resources, given: dict[str, Path], ledger: Ledger) -> Courier:
    """Return the courier of a server: of the organisations that it was given, or of all."""
    settings, secrets = resources.settings.channels, Secrets()
    names = "+".join(sorted(given))
    return Courier(
        ledger,
        resources.clock,
        settings,
        ToldByFolder(resources, given),
        webhooks=WebhookSender(secrets, timeout_s=settings.timeout_s),
        mails=MailSender(secrets, timeout_s=settings.timeout_s),
        say_in=say_in,
        name=f"{LEASE}/{names}" if names else LEASE,
    )


async def tell_people(resources: Resources, given: dict[str, Path]) -> None:
    """Tell people what happens, until cancelled. What fails is told in the log and tried again."""
    store = await resources.store()
    courier = courier_of(resources, given, store.ledger)
    lease: Lease | None = None
    try:
        while True:
            try:
                lease = await _held(store.leases, lease, courier.name)
                if lease is not None:
                    await courier.step()
            except LedgerError as error:
                _log.warning("nobody is told anything at the moment: %s", error)
            except SiliconError as error:
                _log.warning("people are told later: %s", error)
            except Exception:  # a fault of the program must not end the server
                _log.exception("telling people failed on a fault of the program; it goes on")
            await asyncio.sleep(resources.settings.channels.look_s)
    finally:
        if lease is not None:
            with suppress(LedgerError):
                await store.leases.release(lease)


async def _held(leases: Leases, lease: Lease | None, name: str) -> Lease | None:
    """Return the lease as it is held now; None while another server has it."""
    if lease is not None:
        with suppress(StaleWriter):
            return await leases.renew(lease, LEASE_S)
    return await leases.acquire(name, this_process(), LEASE_S)
