"""The server: executor and HTTP API over one ledger, from the first sweep to the last lease given back."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from console.api import create_api, end_streams, ensure_first_token
from console.application import SiliconApplication
from console.folders import folder_of
from console.pinned import PinnedBody
from console.resources import Resources
from console.server.beating import beat_until
from console.server.listener import HttpServer, address_of, listen
from console.server.lock import only_server_of
from console.server.node import give_back_when
from console.server.pruning import prune_daily
from console.server.same_ledger import SameLedger
from console.server.signals import on_signals
from console.server.telling import tell_people
from console.server.told import Stopped, Stopping, Tell, Up
from console.server.warming import warm
from runtime.clock import Clock
from runtime.draining import Draining
from runtime.executor import ExecutionView, Executor, ExecutorService
from runtime.executor.holder import this_process
from runtime.executor.presence import be_present
from runtime.ledger import embedded_file
from runtime.settings.load import Settings


async def serve(settings: Settings, folders: Sequence[Path], tell: Tell, *, clock: Clock | None = None) -> None:
    """Run a server until a signal ends it: SIGTERM or Ctrl-C in good order, the second one at once.

    Args:
        folders: the organisations whose executions it works on; none means all that it finds and that are here.

    Raises:
        ServerRunning: another server has the embedded ledger.
        AddressInUse: nothing can listen where the settings say.
        OrganisationFaulty, NotFound: a folder cannot be used.
        LedgerUnavailable, SchemaMismatch: the ledger cannot be used as it is.
        LedgerReplaced: another ledger stands where it was, while the server ran.
    """
    resources = Resources(settings, clock)
    try:
        with ExitStack() as held:
            await resources.store()
            file = embedded_file(settings.ledger, settings.home)
            if file is not None:
                held.enter_context(only_server_of(file))
            listening = held.enter_context(listen(settings.server))
            await resources.ready()
            await _serve(resources, folders, listening, tell, embedded=file is not None)
    finally:
        await resources.close()
    tell(Stopped())


async def _serve(
    resources: Resources, folders: Sequence[Path], listening: socket.socket, tell: Tell, *, embedded: bool
) -> None:
    organisations = await resources.organisations()
    for folder in folders:
        organisations.give(folder_of(folder))
    application = SiliconApplication(resources)
    service = await _service(resources, embedded=embedded)
    api = create_api(application, settings=resources.settings, wake=service.wake, clock=resources.clock)
    token = await ensure_first_token(application)
    http = HttpServer(api)
    stopping, at_once, entered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def stop() -> None:
        again = stopping.is_set()
        service.drain()
        stopping.set()
        if again:
            at_once.set()
            http.stop_at_once()
        else:
            tell(Stopping(len(service.working_on), resources.settings.executor.drain_s))

    async def answer() -> None:
        await http.serve([listening])
        if not stopping.is_set():
            raise RuntimeError("The HTTP server ended by itself; the log file says why.")

    async def close_when_stopping() -> None:
        await stopping.wait()
        await end_streams(api)
        organisations.foreign.gateway.hasten()
        http.stop()

    store, settings = await resources.store(), resources.settings
    same = SameLedger(store, embedded_file(settings.ledger, settings.home))
    with on_signals(stop):
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(same.watch(settings.executor.sweep_s))
            present = tasks.create_task(be_present(store.leases, this_process(), settings.executor))
            pruning = tasks.create_task(prune_daily(resources))
            warming = tasks.create_task(warm(organisations, settings))
            telling = tasks.create_task(tell_people(resources, dict(organisations.given)))
            beating = tasks.create_task(beat_until(stopping, resources, tuple(organisations.given.values())))
            serving = tasks.create_task(organisations.bridge.serve(entered.set, for_all=not organisations.given))
            await entered.wait()
            draining = tasks.create_task(
                give_back_when(stopping, organisations.bridge, at_once, settings.executor.drain_s)
            )
            answering = tasks.create_task(answer())
            closing = tasks.create_task(close_when_stopping())
            tell(Up(address_of(listening), os.getpid(), tuple(sorted(organisations.given)), token))
            await service.run_forever()
            await asyncio.wait([closing, answering, draining])
            for each in (serving, beating, present, pruning, telling, warming, watching):
                each.cancel()


async def _service(resources: Resources, *, embedded: bool) -> ExecutorService:
    store, organisations = await resources.store(), await resources.organisations()
    settings, draining = resources.settings.executor, Draining()

    def mine(view: ExecutionView) -> bool:
        if organisations.given:
            return view.home in organisations.given.values()
        return embedded or view.home.is_dir()  # on a server database it may be another machine's

    executor = Executor(store, resources.clock, settings, PinnedBody(organisations), this_process(), draining=draining)
    return ExecutorService(
        executor,
        store,
        settings,
        draining=draining,
        asked=await resources.asked(),
        bus=await resources.bus(),
        mine=mine,
    )
